"""The network layer of a run whose frames go over several hops: what is known of links, who has a contact
beyond range, and the way of every frame.

A link that opens or is lost is known to everybody `convergence_ms` later, last in its millisecond
(`emulation.forwarding.topology`). Routes and contacts beyond range follow what is known, transmissions the
links that there are: a next hop that is known and gone loses the frame.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol

from dens.config.refusal import Refusal
from emulation.clock import Clock, Rank
from emulation.forwarding.kind import ForwardingKind
from emulation.forwarding.overlay_contacts import OverlayContacts, Pair
from emulation.forwarding.topology import KnownTopology
from emulation.ground_truth_recorder import SurroundingsJournal
from emulation.radio import Air, Packet

NO_ROUTE: Final = "no_route"
HOP_LIMIT: Final = "hop_limit"
_FAULTS: Final = (Exception, SystemExit)
"""What a layer of another package may raise; an interruption is not its."""


class Engines(Protocol):
    """Who is told of contacts beyond range, and of frames on their way: the world."""

    def open_contact(self, a: int, b: int) -> None:
        """Two devices can reach each other."""
        ...

    def close_contact(self, a: int, b: int) -> None:
        """They cannot any more."""
        ...

    def packet_sent(self, packet: Packet) -> None:
        """A frame leaves its source."""
        ...

    def packet_lost(self, packet: Packet, reason: str) -> None:
        """A frame that left will not arrive."""
        ...


class RoutedNetwork:
    """Carries frames between devices that are not in range."""

    def __init__(
        self,
        clock: Clock,
        journal: SurroundingsJournal,
        kind: ForwardingKind,
        roles: Sequence[str],
        *,
        convergence_ms: int,
        hop_limit: int,
        header_bytes: int,
    ) -> None:
        """Take the role that every device has on the air."""
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
        """(from when on it is known, a, b, whether the link is up)"""
        self._told_ms = -1
        """The last moment at which news are arranged to be known."""
        self._open: dict[Pair, tuple[int, int]] = {}
        """Pairs with a contact beyond range: over how many hops, and since when."""
        self._packets = 0

    def begin(self, air: Air, engines: Engines) -> None:
        """Take what carries frames and who is told."""
        self._air = air
        self._engines = engines

    def close(self, at_ms: int) -> None:
        """Write down the contacts that last when the run ends."""
        for pair, (hops, since_ms) in sorted(self._open.items()):
            self._journal.overlay_contact(*pair, since_ms, at_ms, hops, True)

    # ------------------------------------------------------------------ links and contacts

    def link_changed(self, a: int, b: int, is_up: bool) -> bool:
        """A link opens or is lost; return whether that is news to the engines of the two devices. It is none
        where they have a contact anyway."""
        due_ms = self._clock.now_ms + self._convergence_ms
        self._news.append((due_ms, a, b, is_up))
        if due_ms != self._told_ms:
            self._told_ms = due_ms
            self._clock.call_at(due_ms, Rank.CONTACT_LOST, self._converge)
        return _pair(a, b) not in self._open

    def peers(self, device: int) -> list[int]:
        """Return with whom a device has a contact beyond range."""
        return [a + b - device for a, b in sorted(self._open) if device in (a, b)]

    def _converge(self) -> None:
        """Let everybody know what is due, and let contacts follow."""
        now_ms, known = self._clock.now_ms, self._known
        self._told_ms = -1  # What changes in this very moment is known a moment later.
        while self._news and self._news[0][0] <= now_ms:
            _, a, b, is_up = self._news.popleft()
            known.change(a, b, is_up)
            try:
                self._router.link_changed(a, b, is_up)
            except _FAULTS as error:
                raise self._failed(error) from error
            self._contacts.link_changed(a, b)
        over, lasting = self._contacts.changes()
        for pair in over:
            self._end_stretch(pair)
            if not self._air.has_link(*pair):
                self._engines.close_contact(*pair)
        for pair, hops in lasting.items():
            is_new = pair not in self._open
            if not is_new:
                self._end_stretch(pair)
            self._open[pair] = hops, now_ms
            if is_new and not self._air.has_link(*pair):
                self._engines.open_contact(*pair)

    def _end_stretch(self, pair: Pair) -> None:
        hops, since_ms = self._open.pop(pair)
        self._journal.overlay_contact(*pair, since_ms, self._clock.now_ms, hops, False)

    # ------------------------------------------------------------------ frames

    def send(self, source: int, destination: int, data: bytes) -> None:
        """Take a frame for a device that is not in range."""
        self._packets += 1
        self._forward(Packet(self._packets, source, destination, data, self._header_bytes), source)

    def hop_began(self, packet: Packet) -> None:
        """The first byte of a frame leaves for its next hop."""
        packet.sent_ms = self._clock.now_ms
        if packet.hop == 1:
            self._engines.packet_sent(packet)

    def hop_ended(self, packet: Packet, node: int, peer: int, data: bytes) -> bool:
        """The last byte of a frame is there, these bytes; say whether it is at its destination. If it is not,
        it goes on."""
        self._write_down(packet, node, peer, None)
        packet.data = data
        if peer == packet.destination:
            return True
        self._forward(packet, peer)
        return False

    def hop_failed(self, packet: Packet, node: int, peer: int, reason: str) -> None:
        """A frame will not arrive."""
        self._write_down(packet, node, peer, reason)
        self._lose(packet, reason)

    def _forward(self, packet: Packet, node: int) -> None:
        """Send a frame on its next hop, if it may have another and there is one."""
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
        self._write_down(packet, node, peer, reason)
        self._lose(packet, reason)

    def _next_hop(self, node: int, destination: int) -> int | None:
        """Ask the router; what it raises, and what is no device, is the fault of whoever wrote it."""
        answer: object
        try:
            answer = self._router.next_hop(node, destination)
        except _FAULTS as error:
            raise self._failed(error) from error
        if answer is None or (isinstance(answer, int) and 0 <= answer < self._devices):
            return answer
        if not isinstance(answer, int):
            raise self._failed(TypeError(f"next_hop answers a device or None, not {answer!r:.60}"))
        return None

    def _failed(self, error: BaseException) -> Refusal:
        return Refusal(f'the forwarding layer "{self._name}" failed: {type(error).__name__}: {error}')

    def _lose(self, packet: Packet, reason: str) -> None:
        """Tell of a loss, unless the frame never left its source: that one is forgotten, as without a
        contact."""
        if packet.hop > 1 or packet.sent_ms >= 0:
            self._engines.packet_lost(packet, reason)

    def _write_down(self, packet: Packet, node: int, peer: int | None, lost: str | None) -> None:
        self._journal.hop(self._clock.now_ms, node, peer, packet, lost)


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
