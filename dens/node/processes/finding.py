"""How a node's file lets it find others: the interfaces of its beacons, and who it is on them."""

from dataclasses import dataclass

from dens.config.problems import DocumentError
from dens.node.links.beacons import EVERYBODY, BeaconInterface, InterfaceError
from dens.node.links.discovery import Discovery
from dens.node.processes.addresses import Links
from dens.node.settings.node_file import NodePlan
from dens.node.settings.schema import DiscoverySettings, address_of
from dens.overlay.session.engine import Engine
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import Role

USUAL_GROUPS = {False: "239.255.68.69", True: "ff02::4445"}
"""The group where none is named, for IPv4 and for IPv6: within a site, and on one link."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The beacons of one process, and what to say where an interface cannot be used."""

    discovery: Discovery
    interfaces: tuple[BeaconInterface, ...]
    plan: NodePlan

    def refusal(self, error: InterfaceError) -> DocumentError:
        """Return the error at its place in the node's file."""
        names = [one.interface for one in self.plan.settings.discovery]
        path = ("discovery", names.index(error.interface), "interface")
        return DocumentError([self.plan.problem(path, error.code, str(error))])


def finding_of(plan: NodePlan, engine: Engine, links: Links, now_ms: int) -> Finding | None:
    """Return how this engine finds others, and is found if it is a DENS node; None where it does not."""
    if not links.finds:
        return None
    period_s = min(one.period_s for one in plan.settings.discovery)
    discovery = Discovery(
        Authenticator(engine.node, plan.secret),
        plan.table.check,
        engine.role,
        engine.new_incarnation(),
        round(1000 * period_s),
        now_ms,
        is_heard=engine.role is Role.MEDIATOR,
    )
    return Finding(discovery, tuple(_interface(plan, one) for one in plan.settings.discovery), plan)


def _interface(plan: NodePlan, one: DiscoverySettings) -> BeaconInterface:
    udp = plan.settings.udp
    assert udp is not None, "a file with [[discovery]] has [udp]"
    usual = USUAL_GROUPS[":" in address_of(udp.address)[0]]
    return BeaconInterface(one.interface, EVERYBODY if one.broadcast else one.group or usual, one.port)
