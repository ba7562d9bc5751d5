"""Session with a peer: one side of one contact.

    opening ──(HELLO or SUMMARY of the peer)──▶ open ──(its SUMMARY)──▶ ready

- *opening*: HELLO is repeated until the peer is known to have received it. A HELLO of the peer that shows
  that it
  has not received ours is answered at once.
- *open*: role and session of the peer are known; our summary is in transit.
- *ready*: the peer's summary is here, so the messages that it lacks are queued, the most urgent kind first.

Queued messages (send_queue.py) leave as far as the congestion window permits and are retransmitted until they
are acknowledged (flights.py).

If the peer has started a newer session (it restarted), this side returns to *open*. When the contact is lost,
the session is discarded: the next summary shows which messages are missing.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from dens.overlay.limits import Limits
from dens.overlay.session.flights import DATAGRAM_BYTES, SMALL_BYTES, Flights
from dens.overlay.session.send_queue import SendQueue
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER, SUMMARY, Role
from dens.overlay.wire.item import AT_ONCE_MS, ENVELOPE_BYTES, NEVER_MS, Item, ItemId
from dens.overlay.wire.messages import ACK_BYTES
from dens.overlay.wire.summary import NumberRanges, RecentIds, Summary

_SUMMARY_PRIORITY: Final = -1
_HALF_RANGE: Final = LINK_NUMBER // 2
"""Link numbers wrap around: of two, the later one is ahead of the other by less than this."""


class PeerSession:
    """State of one contact. It is independent of the meaning of messages."""

    __slots__ = (
        "_ack_bytes",
        "_also_has",
        "_first_number",
        "_has",
        "_last_number",
        "_limits",
        "_taken",
        "acks",
        "acks_due_ms",
        "covered",
        "due_ms",
        "flags",
        "flights",
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
        "queue",
        "role",
        "summary_number",
        "taken_before",
    )

    def __init__(self, peer: int, own_session: int, now_ms: int, limits: Limits, flags: int = 0) -> None:
        self.peer = peer
        self.flags = flags
        """`TAGGED` if everything in this contact has a tag, else 0."""
        self.own_session = own_session
        self.peer_session = 0
        self.role: Role | None = None
        self.is_heard = False
        """Whether the peer is known to have received our HELLO."""
        self.is_hello_queued = False
        self.hello_due_ms = now_ms
        self.link_messages: list[tuple[int, bytes]] = []
        """Type and payload of questions and answers that leave next, once."""
        self.due_ms = AT_ONCE_MS
        """When this session has something to send; never too late."""
        self.summary_number = 0
        self._last_number = 0
        """The newest link number of the peer."""
        self._first_number = 0
        """The link number of the HELLO that started the peer's session."""
        self._limits = limits
        self._taken = RecentIds(limits.contact_items)
        self.flights: Final = Flights(limits)
        self._reset()

    def _reset(self) -> None:
        self._has: Summary | None = None
        self.is_ready = False
        """Whether the peer's summary is here."""
        self.covered = -1
        """The last origin that the peer's summary covers so far; its parts ascend."""
        self.parts: dict[ItemId, tuple[int, int | None]] = {}
        """The interval of origins of each part of our summary; its end is None until it is formed."""
        self.taken_before = 0
        """How many notifications this node had received before the peer's summary came. The summary states
        whether the peer lacks these, so `lacks` need not know.
        """
        self.hosts: tuple[int, ...] = ()
        """The endpoints that the peer hosts: what it receives for them, they have."""
        self._also_has = RecentIds(self._limits.contact_items)
        self.queue = SendQueue()
        self.acks: list[tuple[int, int, int]] = []
        """Acknowledgements to send. Those for an earlier session of the peer must not leave: it numbers its
        batches from the beginning again, and would take one for the acknowledgement of another batch.
        """
        self.acks_due_ms = NEVER_MS
        self._ack_bytes = 0
        self.flights.reset()
        self.due_ms = AT_ONCE_MS

    # ------------------------------------------------------------------ handshake

    def queue_hello(self) -> None:
        """Send a HELLO at once."""
        self.is_hello_queued = True
        self.due_ms = AT_ONCE_MS

    def send_link_message(self, type: int, payload: bytes) -> None:
        """Send a link message at once, without retransmission."""
        self.link_messages.append((type, payload))
        self.due_ms = AT_ONCE_MS

    def apply_hello(self, role: Role, peer_session: int, heard: int, number: int = LINK_NUMBER) -> bool:
        """Apply a HELLO with this link number; return whether the peer's session is new, so that it needs our
        summary.

        A HELLO that names our session was made for this contact; any other may be a recording of another one.
        So only the former changes a session in which the peer has received our HELLO, and only to a newer
        one; it also replaces one in which it has not, whatever the numbers are. A HELLO that is ignored is
        answered, and a peer that really restarted then names our session. A HELLO of an older session is
        late.
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
        self._last_number = number - 1
        if self.role is None:
            self.due_ms = AT_ONCE_MS  # There is nothing to reset yet.
        else:
            self._reset()
        self.role = role
        return True

    def apply_summary(
        self, number: int, known: Summary, hosts: tuple[int, ...] = (), last: int = LAST_NODE
    ) -> None:
        """Apply the peer's summary of the origins up to `last` and its hosted endpoints; known messages leave
        the queue.
        """
        self.summary_number = number
        self.covered = last
        self.hosts = hosts
        self._has = known
        self.is_ready = True
        self.queue.discard_known(known)

    def apply_summary_part(self, known: Summary, last: int) -> None:
        """Apply the next part of the peer's summary, up to `last`. Nothing of these origins is queued yet."""
        assert self._has is not None
        self._has.extend(known, self._limits.known_items)
        self.covered = last

    def note_link_number(self, number: int) -> bool:
        """Return whether a link message of the peer is newer than all others of this contact. Its numbers
        rise, so a repeated or recorded message is not; nor is one that was overtaken, which does no harm.
        """
        if self._last_number and not 0 < (number - self._last_number) % LINK_NUMBER < _HALF_RANGE:
            return False
        self._last_number = number
        return True

    def is_of_session(self, number: int) -> bool:
        """Return whether a link message was made in the peer's current session, and not before. Its numbers
        rise over restarts, and every answer to us was made after its HELLO.
        """
        after = (number - self._first_number) % LINK_NUMBER
        if after >= _HALF_RANGE:
            return False
        if after >= _HALF_RANGE // 2:  # A long session: the reference has to follow at some distance.
            self._first_number = number - _HALF_RANGE // 4
        return True

    # ------------------------------------------------------------------ what the peer has

    def knows(self, item_id: ItemId) -> bool:
        """Return whether the peer is known to have this message."""
        also_has = self._also_has
        if item_id in also_has.recent or (also_has.is_folded and item_id in also_has):
            return True
        return self._has is not None and item_id in self._has

    def named_any_of(self, origin: int) -> bool:
        """Return whether the peer's summary names any message of this origin."""
        return self._has is not None and self._has.names(origin)

    def named(self, item_id: ItemId) -> bool:
        """Return whether the peer's summary names this message."""
        return self._has is not None and item_id in self._has

    def named_of(self, origin: int) -> NumberRanges | None:
        """Return the numbers of this origin that the peer's summary names, or None."""
        return None if self._has is None else self._has.ranges(origin)

    def summary_lacked(self, item_id: ItemId) -> bool:
        """Return whether the peer's summary, compared with what was known here, lacked this message."""
        if self._has is None:
            return False
        lacking = self._has.lacking
        place = bisect_left(lacking, item_id)
        return place < len(lacking) and lacking[place] == item_id

    def is_in_transit(self, item_id: ItemId) -> bool:
        """Return whether this message is queued for the peer, or sent and not acknowledged."""
        return (item_id in self.queue or item_id in self.flights) and not self.knows(item_id)

    def is_unanswered(self, item_id: ItemId) -> bool:
        """Return whether this message was sent in this session and is not acknowledged."""
        return item_id in self.flights

    def note_received(self, item_id: ItemId) -> bool:
        """Record a message that the peer sent; return whether it was taken in this contact before."""
        self._also_has.add(item_id)
        taken = self._taken
        return item_id in taken.recent or (taken.is_folded and item_id in taken)

    def note_taken(self, item_id: ItemId) -> None:
        """Record that a message of the peer is here, so that its repetition in this contact is not new."""
        self._taken.add(item_id)

    def mark_lacking(self, item_id: ItemId) -> None:
        """Record that a message which the peer refused may be useful to it later."""
        self._also_has.discard(item_id)

    def lacks(self, item_id: ItemId) -> bool:
        """Return whether the peer does not have this message, and it is neither queued nor in flight."""
        return not (item_id in self.queue or item_id in self.flights or self.knows(item_id))

    # ------------------------------------------------------------------ transmission

    def queue_summary(self, item_id: ItemId, first: int = 0) -> None:
        """Queue our summary, or the part of it that begins with this origin, before everything else."""
        self.parts[item_id] = first, None
        self.enqueue(_SUMMARY_PRIORITY, item_id, SUMMARY, ENVELOPE_BYTES)

    def offer(self, priority: int, item_id: ItemId, type: int, size: int = ENVELOPE_BYTES) -> None:
        """Queue a message if the peer lacks it; a lower priority number goes first."""
        if self.lacks(item_id):
            self.enqueue(priority, item_id, type, size)

    def enqueue(self, priority: int, item_id: ItemId, type: int, size: int) -> None:
        """Queue a message that the peer lacks."""
        self.queue.add(priority, item_id, type, size)
        self.due_ms = AT_ONCE_MS

    def next_queued(self) -> tuple[ItemId, int] | None:
        """Return the most urgent message that the peer still lacks, with its type, or None."""
        queue, also_has = self.queue, self._also_has
        while (head := queue.head()) is not None:
            if head[0] not in also_has.recent and not (also_has.is_folded and head[0] in also_has):
                return head
            queue.discard_head()
        return None

    def may_carry_acks(self, size: int) -> bool:
        """Return whether acknowledgements may share a datagram of this size. On a lossy link a large datagram
        is lost more easily, and lost acknowledgements make the peer retransmit everything.
        """
        if self.flights.has_losses and size > SMALL_BYTES:
            return False
        return size + ACK_BYTES * len(self.acks) <= DATAGRAM_BYTES

    def on_acknowledged(self, item_id: ItemId, now_ms: int) -> Sequence[Item]:
        """Apply an acknowledgement of a message or of a whole batch; return the messages that were in flight.
        One for anything else is ignored.
        """
        items = self.flights.on_acknowledged(item_id, now_ms)
        if not items:
            return ()
        for item in items:
            self._also_has.add(item.id)
        if self.queue:
            self.due_ms = AT_ONCE_MS
        if not self.flights and self.due_ms != AT_ONCE_MS:
            self.update_due()  # No timer is needed for acknowledged messages.
        return items

    # ------------------------------------------------------------------ acknowledgements

    def acknowledge(self, item: Item, status: int, now_ms: int) -> None:
        """Queue the acknowledgement of a message of the peer.

        It leaves when the peer may be waiting for the acknowledgements of that many messages or bytes, and
        after a short delay in any case.
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
        """Replace the acknowledgements from this position on by one for the batch, if they cover all of its
        messages with the same status.
        """
        entries = self.acks[since:]
        if count > 1 and len(entries) == count and len({status for _, _, status in entries}) == 1:
            self.acks[since:] = [(node, batch, entries[0][2])]

    def take_acks(self) -> tuple[tuple[int, int, int], ...]:
        """Remove and return the queued acknowledgements."""
        entries = tuple(self.acks)
        self.acks.clear()
        self.acks_due_ms = NEVER_MS
        self._ack_bytes = 0
        return entries

    def update_due(self) -> None:
        """Compute `due_ms` after everything was sent that could be."""
        due_ms = self.flights.next_due_ms()
        if not self.is_heard and self.hello_due_ms < due_ms:
            due_ms = self.hello_due_ms
        self.due_ms = self.acks_due_ms if self.acks_due_ms < due_ms else due_ms
