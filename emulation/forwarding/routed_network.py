"""The network layer of a run with multi-hop forwarding: the known topology, contacts beyond range, and the
route of every frame.

A change of a link is known to all devices `convergence_ms` later, at the end of its millisecond
(`emulation.forwarding.topology`). Routes and contacts beyond range follow the known topology, transmissions
the real links: a known next hop that is gone loses the frame.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol

from dens.config.refusal import Refusal
from emulation.clock import Clock, Rank
from emulation.forwarding.kind import ForwardingKind
from emulation.forwarding.overlay_contacts import OverlayContacts, Pair
from emulation.forwarding.topology import KnownTopology
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.radio import Air, Packet

NO_ROUTE: Final = "no_route"
HOP_LIMIT: Final = "hop_limit"
_FAULTS: Final = (Exception, SystemExit)
"""Exceptions that count as failures of a layer of another package. An interruption does not."""


class Engines(Protocol):
    """Receives contacts beyond range and the fate of frames; implemented by the world."""

    def open_contact(self, a: int, b: int) -> None:
        """Two devices can reach each other."""
        ...

    def close_contact(self, a: int, b: int) -> None:
        """Two devices can no longer reach each other."""
        ...

    def packet_sent(self, packet: Packet) -> None:
        """A frame left its source."""
        ...

    def packet_lost(self, packet: Packet, reason: str) -> None:
        """A frame that left its source is lost."""
        ...


class RoutedNetwork:
    """Carries frames between devices that are not in range."""

    def __init__(
        self,
        clock: Clock,
        journal: GroundTruthRecorder,
        kind: ForwardingKind,
        roles: Sequence[str],
        *,
        convergence_ms: int,
        hop_limit: int,
        header_bytes: int,
    ) -> None:
        """Take the role of every device on the air."""
        assert kind.make is not None
        self._clock = clock
        self._journal = journal
        self._name = kind.name
        self._devices = len(roles)
        self._known = KnownTopology(len(roles))
        try:
            self._router = kind.make(self._known)
        except _FAULTS as error:
            raise self._failed(error) from error
        self._contacts = OverlayContacts(
            self._known,
            [device for device, role in enumerate(roles) if role == "mediator"],
            [device for device, role in enumerate(roles) if role not in ("mediator", "forwarder")],
            hop_limit,
        )
        self._convergence_ms = convergence_ms
        self._hop_limit = hop_limit
        self._header_bytes = header_bytes
        self._news: deque[tuple[int, int, int, bool]] = deque()
        """Changes of links: (when it becomes known, a, b, whether the link is up)"""
        self._scheduled_ms = -1
        """The last moment for which `_converge` is scheduled."""
        self._open: dict[Pair, tuple[int, int]] = {}
        """Pairs with a contact beyond range: hops, and since when."""
        self._packets = 0

    def begin(self, air: Air, engines: Engines) -> None:
        """Connect the network with the radios and the world."""
        self._air = air
        self._engines = engines

    def close(self, at_ms: int) -> None:
        """Record the contacts that are open when the run ends."""
        for pair, (hops, since_ms) in sorted(self._open.items()):
            self._journal.overlay_contact(*pair, since_ms, at_ms, hops, True)

    # ------------------------------------------------------------------ links and contacts

    def link_changed(self, a: int, b: int, is_up: bool) -> bool:
        """Handle a change of a link; return whether it changes the contacts of the two devices. It does not
        if they have a contact beyond range anyway.
        """
        due_ms = self._clock.now_ms + self._convergence_ms
        self._news.append((due_ms, a, b, is_up))
        if due_ms != self._scheduled_ms:
            self._scheduled_ms = due_ms
            self._clock.call_at(due_ms, Rank.CONTACT_LOST, self._converge)
        return _pair(a, b) not in self._open

    def peers(self, device: int) -> list[int]:
        """Return the devices with which a device has a contact beyond range."""
        return [a + b - device for a, b in sorted(self._open) if device in (a, b)]

    def _converge(self) -> None:
        """Update the known topology with the changes that are due, and the contacts that follow from it."""
        now_ms, known = self._clock.now_ms, self._known
        self._scheduled_ms = -1  # A change in this very millisecond needs another call.
        while self._news and self._news[0][0] <= now_ms:
            _, a, b, is_up = self._news.popleft()
            known.change(a, b, is_up)
            try:
                self._router.link_changed(a, b, is_up)
            except _FAULTS as error:
                raise self._failed(error) from error
            self._contacts.link_changed(a, b)
        ended, changed = self._contacts.changes()
        for pair in ended:
            self._end_contact(pair)
            if not self._air.has_link(*pair):
                self._engines.close_contact(*pair)
        for pair, hops in changed.items():
            is_new = pair not in self._open
            if not is_new:
                self._end_contact(pair)
            self._open[pair] = hops, now_ms
            if is_new and not self._air.has_link(*pair):
                self._engines.open_contact(*pair)

    def _end_contact(self, pair: Pair) -> None:
        hops, since_ms = self._open.pop(pair)
        self._journal.overlay_contact(*pair, since_ms, self._clock.now_ms, hops, False)

    # ------------------------------------------------------------------ frames

    def send(self, source: int, destination: int, data: bytes) -> None:
        """Send a frame to a device that is not in range."""
        self._packets += 1
        self._forward(Packet(self._packets, source, destination, data, self._header_bytes), source)

    def hop_began(self, packet: Packet) -> None:
        """Handle that the first byte of a frame left for its next hop."""
        packet.sent_ms = self._clock.now_ms
        if packet.hop == 1:
            self._engines.packet_sent(packet)

    def hop_ended(self, packet: Packet, node: int, peer: int, data: bytes) -> bool:
        """Handle the arrival of a frame at the end of a hop; return whether it is at its destination.
        Otherwise it is forwarded.
        """
        self._record_hop(packet, node, peer, None)
        packet.data = data
        if peer == packet.destination:
            return True
        self._forward(packet, peer)
        return False

    def hop_failed(self, packet: Packet, node: int, peer: int, reason: str) -> None:
        """Handle the loss of a frame."""
        self._record_hop(packet, node, peer, reason)
        self._lose(packet, reason)

    def _forward(self, packet: Packet, node: int) -> None:
        """Send a frame on its next hop, or lose it without a route or at the hop limit."""
        if packet.hop >= self._hop_limit:
            reason = HOP_LIMIT
            peer = None
        else:
            reason = NO_ROUTE
            peer = self._next_hop(node, packet.destination)
            if peer is not None and self._air.has_link(node, peer):
                packet.hop += 1
                packet.sent_ms = -1
                self._air.send(node, peer, packet.data, packet)
                return
        packet.hop += 1
        packet.sent_ms = -1
        self._record_hop(packet, node, peer, reason)
        self._lose(packet, reason)

    def _next_hop(self, node: int, destination: int) -> int | None:
        """Query the router; exceptions and invalid answers are failures of its package."""
        answer: object
        try:
            answer = self._router.next_hop(node, destination)
        except _FAULTS as error:
            raise self._failed(error) from error
        if answer is None or (isinstance(answer, int) and 0 <= answer < self._devices):
            return answer
        if not isinstance(answer, int):
            raise self._failed(TypeError(f"next_hop has to return a device or None, not {answer!r:.60}"))
        return None

    def _failed(self, error: BaseException) -> Refusal:
        return Refusal(f'the forwarding layer "{self._name}" failed: {type(error).__name__}: {error}')

    def _lose(self, packet: Packet, reason: str) -> None:
        """Report a loss, unless the frame never left its source: it is then dropped, as without a contact."""
        if packet.hop > 1 or packet.sent_ms >= 0:
            self._engines.packet_lost(packet, reason)

    def _record_hop(self, packet: Packet, node: int, peer: int | None, lost: str | None) -> None:
        self._journal.hop(self._clock.now_ms, node, peer, packet, lost)


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
