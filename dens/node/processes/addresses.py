"""Addresses of a process: a node listens where its file says, an endpoint uses any free port."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from dens.config.refusal import Refusal
from dens.node.links.neighbours import Address
from dens.node.settings.node_file import NO_KEY, NodePlan
from dens.node.settings.schema import SerialSettings, address_of, is_loopback

ENDPOINT_SILENCE_MS: Final = 3_000
"""Silence after which an endpoint greets its node again: a restarted node has forgotten the addresses of its
endpoints and cannot deliver before they greet it."""


@dataclass(frozen=True, slots=True)
class Links:
    """All links of a process."""

    address: Address | None
    listed: Mapping[int, Address]
    accepts_others: bool = False
    silence_ms: int = 3_000
    serial: Sequence[SerialSettings] = ()
    uses_discovery: bool = False
    """Whether peers are found by beacons."""


def links_of_node(plan: NodePlan) -> Links:
    """Return the links of the node's file."""
    udp = plan.settings.udp
    if udp is None:
        return Links(None, {}, serial=plan.settings.serial)
    return Links(
        address_of(udp.address),
        plan.peers,
        udp.accept_others,
        1000 * udp.silence_s,
        plan.settings.serial,
        bool(plan.settings.discovery),
    )


def links_of_end(plan: NodePlan, at: Address | None) -> Links:
    """Return how an endpoint reaches the DENS node: at `at`, or at the address in the node's file.

    A node that listens on all interfaces (0.0.0.0, ::) is reached over loopback. If the file leaves the port
    to the system, the node is found by its beacons.
    """
    if at is None:
        if plan.settings.udp is None:
            raise Refusal("the node's file has no [udp]; endpoints reach a node over UDP, so add it")
        at = address_of(plan.settings.udp.address)
        if at[1] == 0 and plan.settings.discovery:
            return Links(at, {}, silence_ms=ENDPOINT_SILENCE_MS, uses_discovery=True)
    host, port = at = _reachable(at)
    if port == 0:
        raise Refusal(
            "the node's file lets the system choose the port; give the address that the node printed with "
            "--at ADDRESS, or add [[discovery]] with an interface"
        )
    if plan.secret is None and not is_loopback(at):
        raise Refusal(f"{host} {NO_KEY}")
    on_loopback, anywhere = ("::1", "::") if ":" in host else ("127.0.0.1", "0.0.0.0")
    own = on_loopback if is_loopback(at) else anywhere
    return Links((own, 0), {plan.settings.node: at}, silence_ms=ENDPOINT_SILENCE_MS)


def _reachable(at: Address) -> Address:
    host, port = at
    if not ip_address(host).is_unspecified:
        return at
    return ("::1" if ":" in host else "127.0.0.1"), port
