"""Where a process listens and whom it talks to: a node as its file says, an end from any free port."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from dens.config.refusal import Refusal
from dens.node.links.neighbours import Address
from dens.node.settings.node_file import NO_KEY, NodePlan
from dens.node.settings.schema import SerialSettings, address_of, is_loopback

SOON_MS: Final = 3_000
"""An end greets its node again after so much silence: a node that was started again knows nobody, and has to
be told where its ends are before it can give them anything."""


@dataclass(frozen=True, slots=True)
class Links:
    """All the ways to others that a process has."""

    address: Address | None
    listed: Mapping[int, Address]
    accepts_others: bool = False
    silence_ms: int = 3_000
    serial: Sequence[SerialSettings] = ()
    finds: bool = False
    """Whether others are found by beacons, as the node's file says."""


def links_of_node(plan: NodePlan) -> Links:
    """Return what the node's file says."""
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
    """Return how an end reaches the DENS node, which is where its file says or where it was told to be.

    A node that listens everywhere (0.0.0.0, ::) is on this machine, and answers from loopback there. Where
    nobody says which port it has, it is found by its beacons, if the file says how.
    """
    if at is None:
        if plan.settings.udp is None:
            raise Refusal("the node's file has no [udp]; ends talk to it over UDP")
        at = address_of(plan.settings.udp.address)
        if at[1] == 0 and plan.settings.discovery:
            return Links(at, {}, silence_ms=SOON_MS, finds=True)
    host, port = at = _reachable(at)
    if port == 0:
        raise Refusal(
            "the node's file lets the system choose the port; say --at ADDRESS, as the node told it, or let "
            "it be found: [[discovery]], interface"
        )
    if plan.secret is None and not is_loopback(at):
        raise Refusal(f"{host} {NO_KEY}")
    on_loopback, anywhere = ("::1", "::") if ":" in host else ("127.0.0.1", "0.0.0.0")
    own = on_loopback if is_loopback(at) else anywhere
    return Links((own, 0), {plan.settings.node: at}, silence_ms=SOON_MS)


def _reachable(at: Address) -> Address:
    host, port = at
    if not ip_address(host).is_unspecified:
        return at
    return ("::1" if ":" in host else "127.0.0.1"), port
