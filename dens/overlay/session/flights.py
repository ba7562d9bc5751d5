"""Retransmission and congestion control of a session.

All messages that leave in one datagram are one *flight*. At most a congestion window of unacknowledged bytes
is in flight: a small one until the first acknowledgements show how fast the link is, then as much as it
carries within half of the first retransmission timeout (RTO). A flight is retransmitted when its RTO is over,
for as long as the contact lasts. The RTO follows the measured round-trip time (RTT) and its variation as in
RFC 6298, and doubles with every retransmission. The size of datagrams follows the losses: a quarter after
each flight that was not acknowledged in time, a little more after each that was (additive increase,
multiplicative decrease).
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final

from dens.overlay.limits import Limits
from dens.overlay.wire.item import NEVER_MS, NUMBER_MASK, Item, ItemId

SMALL_BYTES: Final = 2_048
"""A few small messages, which no link is too slow for."""
DATAGRAM_BYTES: Final = 60_000
"""The largest datagram that messages share; UDP carries 65,507 bytes."""
_BATCHES_MAX: Final = 64
"""Batches that can be acknowledged as a whole; messages of earlier ones are acknowledged individually."""


class Flight:
    """Messages of one datagram that are not acknowledged yet."""

    __slots__ = ("due_ms", "in_flight", "items", "sent_ms", "size", "tries")

    def __init__(
        self, items: dict[ItemId, Item], size: int, sent_ms: int, tries: int, in_flight: int
    ) -> None:
        self.items = items
        """The unacknowledged ones."""
        self.size = size
        """Bytes of all messages of the datagram."""
        self.sent_ms = sent_ms
        """Time of the first transmission."""
        self.due_ms = NEVER_MS
        self.tries = tries
        self.in_flight = in_flight
        """Unacknowledged bytes of the session after the transmission, this flight included."""


class Flights:
    """The unacknowledged messages of one session, and what was learnt about its link."""

    __slots__ = (
        "_batches",
        "_bytes",
        "_datagram_bytes",
        "_first_window",
        "_flights",
        "_limits",
        "_order",
        "_rto_ms",
        "_rttvar_ms",
        "_srtt_ms",
        "_timers",
        "_window_bytes",
    )

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._first_window = min(limits.window_bytes, max(limits.window_bytes // 8, SMALL_BYTES))
        self._window_bytes = self._first_window
        self._datagram_bytes = DATAGRAM_BYTES
        self._srtt_ms: int | None = None
        self._rttvar_ms = 0
        self._rto_ms = min(limits.retry_ms, limits.retry_most_ms)
        self.reset()

    def reset(self) -> None:
        """Forget all flights: the peer has started a new session. What was learnt about the link stays."""
        self._flights: dict[ItemId, Flight] = {}
        self._batches: dict[int, Flight] = {}
        self._bytes = 0
        self._timers: list[tuple[int, int, Flight]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._flights)

    def __contains__(self, item_id: ItemId) -> bool:
        return item_id in self._flights

    @property
    def ids(self) -> list[ItemId]:
        """Return the unacknowledged messages."""
        return list(self._flights)

    @property
    def has_losses(self) -> bool:
        """Return whether datagrams are smaller than possible because of losses."""
        return self._datagram_bytes < DATAGRAM_BYTES

    def has_room(self, size: int, gathered: int = 0) -> bool:
        """Return whether a message may leave, besides the bytes gathered for the current datagram."""
        in_flight = self._bytes + gathered
        return not in_flight or (
            in_flight < self._window_bytes and in_flight + size <= self._limits.window_bytes
        )

    def may_share_datagram(self, size: int, has_summary: bool = False) -> bool:
        """Return whether a datagram may grow to this size. With a summary it stays small: a lost handshake
        should not wait for a large datagram.
        """
        return size <= (SMALL_BYTES if has_summary else self._datagram_bytes)

    def note_sent(self, items: list[Item], number: int, now_ms: int, again: Flight | None = None) -> None:
        """Record a datagram with these messages, in a batch of this number (0: a single message). They are
        new, or the rest of an earlier flight.
        """
        size = 0
        for item in items:
            size += item.size
        in_flight = self._bytes + size
        sent_ms, tries = (now_ms, 1) if again is None else (again.sent_ms, again.tries + 1)
        flight = Flight({item.id: item for item in items}, size, sent_ms, tries, in_flight)
        if again is not None:
            rto_ms = min(self._rto_ms << min(again.tries, 16), self._limits.retry_most_ms)
        elif 2 * in_flight > self._window_bytes:  # Much has to cross before it.
            rto_ms = self._rto_behind(in_flight)
        else:
            rto_ms = self._rto_ms
        flights = self._flights
        for item_id in flight.items:
            flights[item_id] = flight
        if number:
            self._batches[number] = flight
            if len(self._batches) > _BATCHES_MAX:
                del self._batches[next(iter(self._batches))]
        self._bytes = in_flight
        flight.due_ms = due_ms = now_ms + rto_ms
        self._order += 1
        heappush(self._timers, (due_ms, self._order, flight))

    def _rto_behind(self, in_flight: int) -> int:
        """Return the RTO behind this many bytes. A full window has twice the first RTO, which is four times
        what it should take.
        """
        limits = self._limits
        rto_ms = max(self._rto_ms, 2 * limits.retry_ms * in_flight // self._window_bytes)
        return min(rto_ms, limits.retry_most_ms)

    def on_acknowledged(self, item_id: ItemId, now_ms: int) -> Sequence[Item]:
        """Remove and return an acknowledged message, or those of an acknowledged batch; nothing if none of
        them is in flight.
        """
        flight = self._flights.pop(item_id, None)
        if flight is not None:
            item = flight.items.pop(item_id)
            self._bytes -= item.size
            items: Sequence[Item] = (item,)
        else:
            flight = self._batches.pop(item_id & NUMBER_MASK, None)
            if flight is None:
                return ()
            items = self._pop_batch(flight)
            if not items:
                return ()
        rtt_ms = now_ms - flight.sent_ms
        if flight.tries == 1:
            if not flight.items:
                self._grow_datagram(flight.size)
            self._update_rtt(rtt_ms, flight.in_flight)
        elif rtt_ms > self._rto_ms:
            # It is unknown which transmission is acknowledged (Karn's algorithm), but on a link with late
            # acknowledgements the RTO has to grow.
            self._rto_ms = min(rtt_ms, 2 * self._rto_ms, self._limits.retry_most_ms)
        return items

    def _pop_batch(self, batch: Flight) -> list[Item]:
        """Remove and return the messages of a batch that are still in flight, in whichever flight."""
        acknowledged: list[Item] = []
        for item_id in batch.items:
            flight = self._flights.pop(item_id, None)
            if flight is not None:
                item = flight.items[item_id] if flight is batch else flight.items.pop(item_id)
                self._bytes -= item.size
                acknowledged.append(item)
        batch.items = {}
        return acknowledged

    def _grow_datagram(self, size: int) -> None:
        """Let datagrams grow a little after one of this size was acknowledged at its first transmission. Only
        a nearly full one shows that more could cross.
        """
        most = self._datagram_bytes
        if most < DATAGRAM_BYTES and 2 * size >= most:
            most += SMALL_BYTES
            self._datagram_bytes = most if most < DATAGRAM_BYTES else DATAGRAM_BYTES

    def _update_rtt(self, rtt_ms: int, in_flight: int) -> None:
        """Learn from the acknowledgement of a message that was sent once: the round-trip time (Jacobson and
        Karels' smoothing), and the congestion window that is acknowledged within half of the first RTO.
        """
        limits = self._limits
        window = in_flight * limits.retry_ms // (2 * rtt_ms + 1)
        if window > limits.window_bytes:
            window = limits.window_bytes
        self._window_bytes = window if window > self._first_window else self._first_window
        if self._srtt_ms is None:
            self._srtt_ms, self._rttvar_ms = rtt_ms, rtt_ms // 2
        else:
            self._rttvar_ms += (abs(rtt_ms - self._srtt_ms) - self._rttvar_ms) // 4
            self._srtt_ms += (rtt_ms - self._srtt_ms) // 8
        rto_ms = self._srtt_ms + 4 * self._rttvar_ms
        if rto_ms < limits.retry_ms:
            rto_ms = limits.retry_ms
        most_ms = limits.retry_most_ms
        self._rto_ms = rto_ms if rto_ms < most_ms else most_ms

    def next_retransmission(self, now_ms: int) -> Flight | None:
        """Remove and return a flight whose RTO is over, or None. The caller passes what it sends again to
        `note_sent`.
        """
        if self.next_due_ms() > now_ms:
            return None
        _, _, flight = heappop(self._timers)
        flight.due_ms = NEVER_MS
        for item_id, item in flight.items.items():
            del self._flights[item_id]
            self._bytes -= item.size
        self._datagram_bytes = max(self._datagram_bytes // 4, SMALL_BYTES)
        return flight

    def next_due_ms(self) -> int:
        """Return when the next RTO is over."""
        timers = self._timers
        while timers:
            due_ms, _, flight = timers[0]
            if flight.items and flight.due_ms == due_ms:
                return due_ms
            heappop(timers)
        return NEVER_MS
