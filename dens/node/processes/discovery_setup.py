"""How a process takes part in discovery, from the `[[discovery]]` tables of a node's file."""

from dataclasses import dataclass

from dens.config.problems import DocumentError
from dens.node.links.beacons import BROADCAST, BeaconInterface, InterfaceError
from dens.node.links.discovery import Discovery
from dens.node.processes.addresses import Links
from dens.node.settings.node_file import NodePlan
from dens.node.settings.schema import DiscoverySettings, address_of
from dens.overlay.session.engine import Engine
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import Role

DEFAULT_GROUPS = {False: "239.255.68.69", True: "ff02::4445"}
"""Multicast groups for IPv4 (site scope) and IPv6 (link scope)."""


@dataclass(frozen=True, slots=True)
class DiscoverySetup:
    """The beacons of one process and the interfaces they use."""

    discovery: Discovery
    interfaces: tuple[BeaconInterface, ...]
    plan: NodePlan

    def refusal(self, error: InterfaceError) -> DocumentError:
        """Return the error at its place in the node's file."""
        names = [settings.interface for settings in self.plan.settings.discovery]
        path = ("discovery", names.index(error.interface), "interface")
        return DocumentError([self.plan.problem(path, error.code, str(error))])


def discovery_setup(plan: NodePlan, engine: Engine, links: Links, now_ms: int) -> DiscoverySetup | None:
    """Return the discovery of this engine, None without it. Only DENS nodes send beacons."""
    if not links.uses_discovery:
        return None
    period_s = min(settings.period_s for settings in plan.settings.discovery)
    discovery = Discovery(
        Authenticator(engine.node, plan.secret),
        plan.table.check,
        engine.role,
        engine.new_incarnation(),
        round(1000 * period_s),
        now_ms,
        sends_beacons=engine.role is Role.MEDIATOR,
    )
    interfaces = tuple(_interface(plan, settings) for settings in plan.settings.discovery)
    return DiscoverySetup(discovery, interfaces, plan)


def _interface(plan: NodePlan, settings: DiscoverySettings) -> BeaconInterface:
    udp = plan.settings.udp
    assert udp is not None, "a file with [[discovery]] has [udp]"
    default = DEFAULT_GROUPS[":" in address_of(udp.address)[0]]
    group = BROADCAST if settings.broadcast else settings.group or default
    return BeaconInterface(settings.interface, group, settings.port)
