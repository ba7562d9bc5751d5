"""One side of one contact: who the peer is, what it lacks, what is on its way to it.

    greeting ──(hello or summary of the peer)──▶ greeted ──(its summary)──▶ ready

- *greeting*: hello is repeated until the peer is known to have heard it; a peer's hello that shows that it
  has not heard ours is answered at once.
- *greeted*: the peer's role and session are known; our summary is on its way.
- *ready*: the peer's summary is here, so what it lacks is queued, most urgent kind first.

At most a congestion window of unacknowledged bytes is in flight: a small one until the first answers show how
fast the link is, then as much as crosses in a moment. What leaves in one datagram is one flight. It is
retransmitted when its retransmission timeout (RTO) is over, for as long as the contact lasts. The RTO follows
the measured round-trip time (RTT) and its variation as in RFC 6298, and backs off exponentially: it doubles
with every try. How much shares a datagram follows the losses: a quarter of it after each that was not
answered in time, a little more after each that was (additive increase, multiplicative decrease).

When the peer turns out to have begun a newer session (it restarted), this side goes back to *greeted*. When
the contact is lost the session is thrown away: what was not acknowledged is found missing by the next
summary.
"""

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from dens.overlay.limits import Limits
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER, SUMMARY, Role
from dens.overlay.wire.item import (
    AT_ONCE_MS,
    ENVELOPE_BYTES,
    NEVER_MS,
    NUMBER_BITS,
    NUMBER_MASK,
    Item,
    ItemId,
)
from dens.overlay.wire.messages import ACK_BYTES
from dens.overlay.wire.summary import NumberRanges, RecentIds, Summary

_SMALL_BYTES: Final = 2_048
"""Some small messages, which no link is too slow for."""
DATAGRAM_BYTES: Final = 60_000
"""The most that shares a datagram; UDP carries 65,507 bytes."""
_SUMMARY_PRIORITY: Final = -1
_HALF_RANGE: Final = LINK_NUMBER // 2
"""Link numbers begin again behind the last: of two, the later one is ahead of the other by less than this."""
_BATCHES_MAX: Final = 64
"""So many batches can be answered as a whole; what went in an earlier one is answered one by one."""


class Flight:
    """What was sent in one datagram and is not acknowledged yet."""

    __slots__ = ("due_ms", "items", "sent_ms", "size", "tries", "under_way")

    def __init__(
        self, items: dict[ItemId, Item], size: int, sent_ms: int, tries: int, under_way: int
    ) -> None:
        self.items = items
        """Those that nothing was heard of yet."""
        self.size = size
        """Bytes of all that went out together."""
        self.sent_ms = sent_ms
        """When they went out for the first time."""
        self.due_ms = NEVER_MS
        self.tries = tries
        self.under_way = under_way
        """Bytes that were to cross then, its own included."""


class PeerSession:
    """The state of one contact. It knows nothing of what messages mean."""

    __slots__ = (
        "_ack_bytes",
        "_also_has",
        "_batches",
        "_datagram_bytes",
        "_first_number",
        "_first_window",
        "_flight_bytes",
        "_flights",
        "_has",
        "_heard_number",
        "_limits",
        "_order",
        "_origin_turns",
        "_queue",
        "_queued",
        "_retransmissions",
        "_rto_ms",
        "_rttvar_ms",
        "_srtt_ms",
        "_taken",
        "_turn",
        "_window_bytes",
        "acks",
        "acks_due_ms",
        "covered",
        "due_ms",
        "flags",
        "hello_due_ms",
        "hosts",
        "is_heard",
        "is_hello_queued",
        "is_ready",
        "link_messages",
        "own_session",
        "parts",
        "peer",
        "peer_session",
        "role",
        "summary_number",
        "taken_before",
    )

    def __init__(self, peer: int, own_session: int, now_ms: int, limits: Limits, flags: int = 0) -> None:
        self.peer = peer
        self.flags = flags
        """`TAGGED` where everything in this contact has a tag, else 0."""
        self.own_session = own_session
        self.peer_session = 0
        self.role: Role | None = None
        self.is_heard = False
        self.is_hello_queued = False
        self.hello_due_ms = now_ms
        self.link_messages: list[tuple[int, bytes]] = []
        """Questions and answers that go out next, once: their type and payload."""
        self.due_ms = AT_ONCE_MS
        """When this session wants attention next; never too late."""
        self.summary_number = 0
        self._heard_number = 0
        self._first_number = 0
        """The number of the greeting that began the peer's session."""
        self._limits = limits
        self._taken = RecentIds(limits.contact_items)
        self._first_window = min(limits.window_bytes, max(limits.window_bytes // 8, _SMALL_BYTES))
        self._window_bytes = self._first_window
        self._datagram_bytes = DATAGRAM_BYTES
        self._srtt_ms: int | None = None
        self._rttvar_ms = 0
        self._rto_ms = min(limits.retry_ms, limits.retry_most_ms)
        self._reset()

    def _reset(self) -> None:
        self._has: Summary | None = None
        self.is_ready = False
        """Whether the peer's summary is here."""
        self.covered = -1
        """The last origin of which the peer has said what it knows; they come in ascending order."""
        self.parts: dict[ItemId, tuple[int, int | None]] = {}
        """The interval of origins of each part of our summary; None is where it has not been formed yet."""
        self.taken_before = 0
        """How many notifications were taken here before the peer's summary came: of these the summary says
        whether the peer lacks them, and `lacks` need not know it."""
        self.hosts: tuple[int, ...] = ()
        """The ends that the peer hosts: what it is given for them, they have."""
        self._also_has = RecentIds(self._limits.contact_items)
        self._queue: list[tuple[int, int, int, ItemId, int]] = []
        self._origin_turns: dict[int, int] = {}
        self._turn = 0
        self._queued: set[ItemId] = set()
        self._order = 0
        self.acks: list[tuple[int, int, int]] = []
        """Acknowledgements to send. Those for an earlier session of the peer must not leave: it numbers its
        batches from the beginning again, and would take one for the answer to another batch.
        """
        self.acks_due_ms = NEVER_MS
        self._ack_bytes = 0
        self._flights: dict[ItemId, Flight] = {}
        self._batches: dict[int, Flight] = {}
        self._flight_bytes = 0
        self._retransmissions: list[tuple[int, int, Flight]] = []
        self.due_ms = AT_ONCE_MS

    def queue_hello(self) -> None:
        """Answer with a hello at once."""
        self.is_hello_queued = True
        self.due_ms = AT_ONCE_MS

    def send_link_message(self, type: int, payload: bytes) -> None:
        """Say something that means something on this link only, at once and once."""
        self.link_messages.append((type, payload))
        self.due_ms = AT_ONCE_MS

    def apply_hello(self, role: Role, peer_session: int, heard: int, number: int = LINK_NUMBER) -> bool:
        """Take what a hello with this link number says; return whether the peer's session is new, so that it
        needs our summary.

        A hello that names our session was made for this contact; any other may be recorded in another one.
        So only the former changes a session that has heard us, and only to a newer one; it also replaces one
        that has not, whatever the numbers are. What is not believed is answered, and whoever really began
        again says in return that it has heard us. A hello of an older session is late.
        """
        has_heard = heard == self.own_session
        if peer_session == self.peer_session:
            self.is_heard = self.is_heard or has_heard
            return False
        if self.is_heard > has_heard:
            return False
        if self.is_heard == has_heard and peer_session < self.peer_session:
            return False
        self.is_heard = has_heard
        self.peer_session = peer_session
        self._first_number = number
        self._heard_number = number - 1
        if self.role is None:
            self.due_ms = AT_ONCE_MS  # Nothing was said yet that could be forgotten.
        else:
            self._reset()
        self.role = role
        return True

    def apply_summary(
        self, number: int, known: Summary, hosts: tuple[int, ...] = (), last: int = LAST_NODE
    ) -> None:
        """Take what the peer knows, of origins up to the last, and whose ends it hosts, and no longer wait to
        send it any of that.
        """
        self.summary_number = number
        self.covered = last
        self.hosts = hosts
        self._has = known
        self.is_ready = True
        if self._queue:
            self._queue = [entry for entry in self._queue if entry[3] not in known]
            self._queued = {entry[3] for entry in self._queue}
            heapify(self._queue)

    def apply_summary_part(self, known: Summary, last: int) -> None:
        """Take what the peer knows of the origins that follow, up to the last. Nothing of them was queued."""
        assert self._has is not None
        self._has.extend(known, self._limits.known_items)
        self.covered = last

    def knows(self, item_id: ItemId) -> bool:
        """Return whether the peer is known to have this message."""
        also_has = self._also_has
        if item_id in also_has.recent or (also_has.is_folded and item_id in also_has):
            return True
        return self._has is not None and item_id in self._has

    def named_any_of(self, origin: int) -> bool:
        """Return whether the peer named any message of this origin in its summary."""
        return self._has is not None and self._has.names(origin)

    def named(self, item_id: ItemId) -> bool:
        """Return whether the peer named this message in its summary."""
        return self._has is not None and item_id in self._has

    def named_of(self, origin: int) -> NumberRanges | None:
        """Return the numbers of this origin that the peer named in its summary, or None."""
        return None if self._has is None else self._has.ranges(origin)

    def is_in_transit(self, item_id: ItemId) -> bool:
        """Return whether this message is queued for the peer, or on its way and not answered yet."""
        return (item_id in self._queued or item_id in self._flights) and not self.knows(item_id)

    def summary_lacked(self, item_id: ItemId) -> bool:
        """Return whether the peer's summary, compared with what was known here, lacked this message."""
        if self._has is None:
            return False
        lacking = self._has.lacking
        place = bisect_left(lacking, item_id)
        return place < len(lacking) and lacking[place] == item_id

    def is_unanswered(self, item_id: ItemId) -> bool:
        """Return whether this message was sent in this session and is not answered yet."""
        return item_id in self._flights

    def note_received(self, item_id: ItemId) -> bool:
        """Note that the peer has this message, which it has just sent; return whether it came in this contact
        already, however long ago.
        """
        self._also_has.add(item_id)
        taken = self._taken
        return item_id in taken.recent or (taken.is_folded and item_id in taken)

    def note_link_number(self, number: int) -> bool:
        """Say whether a link message of the peer's is newer than every other that came in this contact. Its
        numbers rise, so what is repeated or recorded is none; nor is what was overtaken, which does no harm.
        """
        if self._heard_number and not 0 < (number - self._heard_number) % LINK_NUMBER < _HALF_RANGE:
            return False
        self._heard_number = number
        return True

    def is_of_session(self, number: int) -> bool:
        """Return whether a link message was made in the session of the peer that is known here, and not
        before. Its numbers rise over restarts, and whatever answers us was made after the greeting.
        """
        after = (number - self._first_number) % LINK_NUMBER
        if after >= _HALF_RANGE:
            return False
        if after >= _HALF_RANGE // 2:  # A long session: what is compared with has to stay behind, and near.
            self._first_number = number - _HALF_RANGE // 4
        return True

    def note_taken(self, item_id: ItemId) -> None:
        """Note that this message of the peer's is here, so that no repetition within this contact is news."""
        self._taken.add(item_id)

    def mark_lacking(self, item_id: ItemId) -> None:
        """Note that a message which the peer refused may be of use to it after all."""
        self._also_has.discard(item_id)

    def lacks(self, item_id: ItemId) -> bool:
        """Say whether the peer neither has this message nor will get it: it is not queued or on its way."""
        return not (item_id in self._queued or item_id in self._flights or self.knows(item_id))

    def queue_summary(self, item_id: ItemId, first: int = 0) -> None:
        """Queue our summary, or a part of it that begins with this origin, before all else."""
        self.parts[item_id] = first, None
        self.enqueue(_SUMMARY_PRIORITY, item_id, SUMMARY, ENVELOPE_BYTES)

    def offer(self, priority: int, item_id: ItemId, type: int, size: int = ENVELOPE_BYTES) -> None:
        """Queue a message unless the peer has it or it is on its way; a lower priority number goes first."""
        if self.lacks(item_id):
            self.enqueue(priority, item_id, type, size)

    def enqueue(self, priority: int, item_id: ItemId, type: int, size: int) -> None:
        """Queue a message that the peer lacks.

        Of one priority every origin gets its turn, byte for byte: a message's turn begins where its origin's
        last one ended, or now (start-time fair queueing, Goyal, Vin and Cheng, 1996). So whoever floods waits
        behind itself, and not others behind it.
        """
        self._queued.add(item_id)
        self._order += 1
        self.due_ms = AT_ONCE_MS
        turn, turns, origin = self._turn, self._origin_turns, item_id >> NUMBER_BITS
        if origin in turns and turns[origin] > turn:
            turn = turns[origin]
        turns[origin] = turn + size
        heappush(self._queue, (priority, turn, self._order, item_id, type))

    def next_queued(self) -> tuple[ItemId, int] | None:
        """Return the most urgent message that the peer still lacks, with its type, or None."""
        queue, also_has = self._queue, self._also_has
        while queue:
            _, _, _, item_id, type = queue[0]
            if item_id not in also_has.recent and not (also_has.is_folded and item_id in also_has):
                return item_id, type
            heappop(queue)
            self._queued.discard(item_id)
        return None

    def drop_queued(self) -> None:
        """Take the most urgent message off the queue."""
        _, self._turn, _, item_id, _ = heappop(self._queue)
        self._queued.discard(item_id)
        if not self._queue:
            self._origin_turns.clear()
            self._turn = 0

    def has_room(self, size: int, gathered: int = 0) -> bool:
        """Return whether so many bytes more may be under way, beside those that are gathered to leave now."""
        under_way = self._flight_bytes + gathered
        return not under_way or (
            under_way < self._window_bytes and under_way + size <= self._limits.window_bytes
        )

    def may_share_datagram(self, size: int, greets: bool = False) -> bool:
        """Return whether a datagram that has come to this size may be sent as one. With a summary only a few
        bytes may: nobody should wait for a greeting that was lost for what rode with it.
        """
        return size <= (_SMALL_BYTES if greets else self._datagram_bytes)

    def may_carry_acks(self, size: int) -> bool:
        """Say whether acknowledgements may ride with so many bytes. Where datagrams are lost a large one is
        lost more easily than a small one, and answers that are lost make the peer say everything again.
        """
        if self._datagram_bytes < DATAGRAM_BYTES and size > _SMALL_BYTES:
            return False
        return size + ACK_BYTES * len(self.acks) <= DATAGRAM_BYTES

    def note_sent(self, items: list[Item], number: int, now_ms: int, again: Flight | None = None) -> None:
        """Note that a datagram went out with these messages, in a batch of this number (0: one, alone). They
        are new, or what is left of an earlier flight.
        """
        size = 0
        for item in items:
            size += item.size
        under_way = self._flight_bytes + size
        sent_ms, tries = (now_ms, 1) if again is None else (again.sent_ms, again.tries + 1)
        flight = Flight({item.id: item for item in items}, size, sent_ms, tries, under_way)
        if again is not None:
            rto_ms = min(self._rto_ms << min(again.tries, 16), self._limits.retry_most_ms)
        elif 2 * under_way > self._window_bytes:  # Much is to cross before it, so it is given time.
            rto_ms = self._rto_for(under_way)
        else:
            rto_ms = self._rto_ms
        flights = self._flights
        for item_id in flight.items:
            flights[item_id] = flight
        if number:
            self._batches[number] = flight
            if len(self._batches) > _BATCHES_MAX:
                del self._batches[next(iter(self._batches))]
        self._flight_bytes = under_way
        flight.due_ms = due_ms = now_ms + rto_ms
        self._order += 1
        heappush(self._retransmissions, (due_ms, self._order, flight))

    def _rto_for(self, under_way: int) -> int:
        """Return how long to wait for an answer behind so many bytes: a window is given twice the first
        RTO, which is four times what it should take.
        """
        limits = self._limits
        rto_ms = max(self._rto_ms, 2 * limits.retry_ms * under_way // self._window_bytes)
        return min(rto_ms, limits.retry_most_ms)

    def on_acknowledged(self, item_id: ItemId, now_ms: int) -> Sequence[Item]:
        """Take an acknowledgement of a message, or of a whole batch; return what it was for: nothing where
        nothing was waiting for it, and then nothing is remembered of it.
        """
        flight = self._flights.pop(item_id, None)
        if flight is not None:
            item = flight.items.pop(item_id)
            self._flight_bytes -= item.size
            items: Sequence[Item] = (item,)
        else:
            flight = self._batches.pop(item_id & NUMBER_MASK, None)
            if flight is None:
                return ()
            items = self._pop_batch(flight)
            if not items:
                return ()
        for item in items:
            self._also_has.add(item.id)
        if self._queue:
            self.due_ms = AT_ONCE_MS
        took_ms = now_ms - flight.sent_ms
        if flight.tries == 1:
            if not flight.items:
                self._grow_datagram(flight.size)
            self._update_rtt(took_ms, flight.under_way)
        elif took_ms > self._rto_ms:
            # Which transmission is answered nobody knows (Karn's algorithm), but where answers are late one
            # has to learn to wait.
            self._rto_ms = min(took_ms, 2 * self._rto_ms, self._limits.retry_most_ms)
        if not self._flights and self.due_ms != AT_ONCE_MS:
            self.update_due()  # Nobody need be woken for what was answered.
        return items

    def _grow_datagram(self, size: int) -> None:
        """Let datagrams grow a little after one of this size that was answered the first time. Only one that
        was nearly full shows that more could cross.
        """
        most = self._datagram_bytes
        if most < DATAGRAM_BYTES and 2 * size >= most:
            most += _SMALL_BYTES
            self._datagram_bytes = most if most < DATAGRAM_BYTES else DATAGRAM_BYTES

    def _update_rtt(self, took_ms: int, under_way: int) -> None:
        """Learn from an answer to a message that went out once: how long a round trip takes (Jacobson and
        Karels' smoothing), and how large the congestion window may be so that it is answered within half of
        the first RTO.
        """
        limits = self._limits
        fitting = under_way * limits.retry_ms // (2 * took_ms + 1)
        if fitting > limits.window_bytes:
            fitting = limits.window_bytes
        self._window_bytes = fitting if fitting > self._first_window else self._first_window
        if self._srtt_ms is None:
            self._srtt_ms, self._rttvar_ms = took_ms, took_ms // 2
        else:
            self._rttvar_ms += (abs(took_ms - self._srtt_ms) - self._rttvar_ms) // 4
            self._srtt_ms += (took_ms - self._srtt_ms) // 8
        rto_ms = self._srtt_ms + 4 * self._rttvar_ms
        if rto_ms < limits.retry_ms:
            rto_ms = limits.retry_ms
        most_ms = limits.retry_most_ms
        self._rto_ms = rto_ms if rto_ms < most_ms else most_ms

    def _pop_batch(self, batch: Flight) -> list[Item]:
        """Return what a batch carried and is still waited for, in whichever flight it is by now, and wait for
        it no more.
        """
        landed: list[Item] = []
        for item_id in batch.items:
            flight = self._flights.pop(item_id, None)
            if flight is not None:
                item = flight.items[item_id] if flight is batch else flight.items.pop(item_id)
                self._flight_bytes -= item.size
                landed.append(item)
        batch.items = {}
        return landed

    def next_retransmission(self, now_ms: int) -> Flight | None:
        """Take a flight whose RTO is over, or None. What of it is worth it has to be `sent` again."""
        if self._retransmission_due_ms() > now_ms:
            return None
        _, _, flight = heappop(self._retransmissions)
        flight.due_ms = NEVER_MS
        for item_id, item in flight.items.items():
            del self._flights[item_id]
            self._flight_bytes -= item.size
        self._datagram_bytes = max(self._datagram_bytes // 4, _SMALL_BYTES)
        return flight

    def _retransmission_due_ms(self) -> int:
        timers = self._retransmissions
        while timers:
            due_ms, _, flight = timers[0]
            if flight.items and flight.due_ms == due_ms:
                return due_ms
            heappop(timers)
        return NEVER_MS

    def acknowledge(self, item: Item, status: int, now_ms: int) -> None:
        """Note that the peer is to be told how a message of its was taken.

        It is told when so many answers or bytes have come together that it may be waiting for them, and after
        a short delay in any case.
        """
        self.acks.append((item.origin, item.number, status))
        self._ack_bytes += item.size
        limits = self._limits
        if len(self.acks) >= limits.ack_batch or 2 * self._ack_bytes >= limits.window_bytes:
            self.acks_due_ms = now_ms
        elif self.acks_due_ms == NEVER_MS:
            self.acks_due_ms = now_ms + min(limits.ack_delay_ms, limits.retry_ms // 4)
        if self.acks_due_ms < self.due_ms:
            self.due_ms = self.acks_due_ms

    def merge_acks(self, since: int, count: int, node: int, batch: int) -> None:
        """Make one answer of those since then, if they are for all messages of a batch and say the same."""
        answers = self.acks[since:]
        if count > 1 and len(answers) == count and len({status for _, _, status in answers}) == 1:
            self.acks[since:] = [(node, batch, answers[0][2])]

    def take_acks(self) -> tuple[tuple[int, int, int], ...]:
        """Return what the peer is to be told, and forget it."""
        entries = tuple(self.acks)
        self.acks.clear()
        self.acks_due_ms = NEVER_MS
        self._ack_bytes = 0
        return entries

    def update_due(self) -> None:
        """Find out when attention is wanted next, after everything was said that could be."""
        due_ms = self._retransmission_due_ms()
        if not self.is_heard and self.hello_due_ms < due_ms:
            due_ms = self.hello_due_ms
        self.due_ms = self.acks_due_ms if self.acks_due_ms < due_ms else due_ms
