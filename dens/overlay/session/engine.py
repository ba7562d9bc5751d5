"""Engine base of all nodes: contacts, sessions, reception, acknowledgements, expiry.

Transmission is in dens/overlay/session/transmitter.py; messages are interpreted by the node's role
(dens/overlay/session/role.py).

Invariants of every engine:
- Nothing leaves before everything it depends on is committed: `datagrams_to_send` commits first.
- A message is acknowledged when it is durable, or with the status for which it never will be.
- Bytes that are malformed, not authentic or of another mission table change nothing.
- A known message is acknowledged again and otherwise ignored.
- An endpoint sends its own messages only; a mediator relays those of others.
- Expiries are reported with the time at which they happened, at the next call of the engine; there is no
  timer
  for them. A driver that needs them earlier uses `next_expiry_ms`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from dens.overlay.errors import OtherVersionError, RemoteProtocolError, StoreError
from dens.overlay.events import (
    DatagramRefused,
    DuplicateReceived,
    Event,
    HoldingsEnded,
    MessageAcknowledged,
    MessageRefused,
)
from dens.overlay.session.arguments import check_bytes, check_peer, check_table_check
from dens.overlay.session.context import NodeContext
from dens.overlay.session.handshake import Handshake, summary_role
from dens.overlay.session.lookup import LOOKUP_TIMEOUT_MS, Lookups
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.protocol import Datagram
from dens.overlay.session.quarantine import REFUSALS, Work
from dens.overlay.session.role import NodeRole
from dens.overlay.session.transmitter import Transmitter
from dens.overlay.wire.authentication import TAG_BYTES
from dens.overlay.wire.codes import (
    ACKNOWLEDGEMENT,
    ASKING,
    BAD_PAYLOAD,
    BATCH,
    EXPIRED,
    FOREIGN_ORIGIN,
    HAS_IT,
    HELLO,
    KNOWN,
    LINK_NUMBER,
    LOOKUP,
    MEDIATOR,
    OFFERS,
    QUARANTINED,
    REASON_NAMES,
    STATUS_NAMES,
    STORED,
    SUMMARY,
    Reason,
    Role,
    Status,
)
from dens.overlay.wire.envelope import unpack
from dens.overlay.wire.item import AT_ONCE_MS, NEVER_MS, NUMBER_BITS, Item, ItemId
from dens.overlay.wire.messages import Acknowledgement, Batch, Hello, SummaryMessage

_SUMMARY_RANK: Final = 0
_ITEM_RANK: Final = 2
_RANKS: Final = {SUMMARY: _SUMMARY_RANK, ACKNOWLEDGEMENT: 1}
"""Order of the link messages of a batch; messages to store follow."""


class Engine(ABC):
    """A protocol engine: a transmitter, and a `NodeRole` that handles messages.

    `SubscriberEndpoint`, `PublisherEndpoint` and `DensNode` are engines with a role and an application
    interface of their own.
    """

    def __init__(self, context: NodeContext, table_check: int, node_role: NodeRole, now_ms: int) -> None:
        check_table_check(table_check)
        self.node: Final = context.node
        self.limits: Final = context.limits
        self.role: Final = node_role.role
        self.context: Final = context
        """For tests and drivers that inspect a node."""
        self._node_role = node_role
        self._transmitter = Transmitter(context, table_check, node_role)
        self._handshake = Handshake(context, node_role)
        self._lookups = Lookups(context, table_check, node_role)
        self._table_check = table_check
        self._authenticator = context.authenticator
        self._flags = context.flags
        self._durable = context.durable
        self._known = context.durable.known
        self._events = context.events
        self._quarantine = context.quarantine
        self._sessions = context.sessions
        self._commits_at_once = node_role.commits_at_once
        self._began_ms = now_ms
        held, inbox = self._durable.load()
        node_role.restore(held, inbox, now_ms)

    # ------------------------------------------------------------------ ProtocolEngine

    def receive(self, data: bytes, peer: int, now_ms: int) -> bool:
        """Process bytes from a peer; invalid ones raise nothing. Return whether they are authentic and new in
        this contact.
        """
        session = self._sessions.get(peer)
        if session is None:
            return self._refuse(data, peer, Reason.NO_CONTACT, now_ms)
        try:
            item, check, is_tagged = unpack(data, now_ms)
        except OtherVersionError:
            return self._refuse(data, peer, Reason.VERSION, now_ms)
        except RemoteProtocolError:
            return self._refuse(data, peer, Reason.MALFORMED, now_ms)
        if is_tagged is not bool(session.flags):
            return self._refuse(data, peer, Reason.UNEXPECTED_TAG if is_tagged else Reason.NO_TAG, now_ms)
        if is_tagged:
            reason = self._tag_fault(data, item, session)
            if reason is not None:
                return self._refuse(data, peer, reason, now_ms)
        if check != self._table_check:
            return self._refuse(data, peer, Reason.TABLE_CHECK, now_ms)
        if self._known.forget_ms < now_ms:
            self._forget(now_ms - 1)
        if self._known.wake_ms <= now_ms or self._node_role.next_expiry_ms() <= now_ms:
            self.expire(now_ms)
        try:
            if item.number < LINK_NUMBER:
                return self._on_items((item,), session, now_ms)
            if item.origin != peer:
                return self._refuse(data, peer, Reason.MALFORMED, now_ms)
            if item.type == HELLO:
                hello = Hello.decode(item.payload)
                if not self._handshake.is_admitted(hello, session, now_ms):
                    return self._refuse(data, peer, Reason.RATE_LIMIT, now_ms)
                return self._handshake.on_hello(hello, item.number, session, now_ms)
            if item.type == LOOKUP or item.type == OFFERS:
                return self._on_lookup_message(item, session, len(data), now_ms)
            items = self._split_batch(item.payload, peer, now_ms) if item.type == BATCH else [item]
            summary = SummaryMessage.decode(items[0].payload) if items[0].type == SUMMARY else None
            if summary is not None and not self._handshake.is_summary_admitted(
                items[0], summary, session, now_ms
            ):
                return self._refuse(data, peer, Reason.RATE_LIMIT, now_ms)
            self._process(items, summary, item.number, session, now_ms)
        except RemoteProtocolError:
            return self._refuse(data, peer, Reason.MALFORMED, now_ms)
        return session.note_link_number(item.number)

    def contact_opened(self, peer: int, now_ms: int, *, is_trusted: bool = False) -> None:
        """Start a session: HELLO is sent until the peer answers. On a trusted link nothing has a tag."""
        check_peer(peer, self.node)
        self.expire(now_ms)
        self._sessions.pop(peer, None)  # Open look-ups stay: the peer is queried again when it is ready.
        number = self._durable.session_number()
        flags = 0 if is_trusted else self._flags
        session = self._sessions[peer] = PeerSession(peer, number, now_ms, self.limits, flags)
        if self.role is MEDIATOR and self.node > peer:
            session.hello_due_ms += self.limits.hello_ms // 2  # One of two mediators starts.

    def contact_lost(self, peer: int, now_ms: int) -> None:
        """Discard the session; unacknowledged messages are offered again at the next contact."""
        self._sessions.pop(peer, None)
        if self._lookups.is_any:
            self._lookups.contact_lost(peer, now_ms)

    def is_unverified(self, item_id: ItemId) -> bool:
        """Return whether a held message came over a trusted link, without a tag in a mission that
        has a key.
        """
        return self._durable.is_unverified(item_id)

    def next_timer_ms(self) -> int | None:
        """Return when a HELLO, a retransmission, an acknowledgement or a timer of the role is due. Expiries
        need no timer: other nodes compute them themselves.
        """
        earliest = min(self._node_role.next_timer_ms(), self._lookups.due_ms)
        for session in self._sessions.values():
            if session.due_ms < earliest:
                earliest = session.due_ms
        return None if earliest == NEVER_MS else earliest

    def timer_due(self, now_ms: int) -> None:
        """Process expiries and timers. `datagrams_to_send` then has the retransmissions."""
        if self._known.forget_ms <= now_ms:
            self._forget(now_ms)
        self.expire(now_ms)
        self._node_role.timer_due(now_ms)
        if self._lookups.due_ms <= now_ms:
            self._lookups.timer_due(now_ms)

    def next_expiry_ms(self) -> int | None:
        """Return when something expires, or may expire, that no event has reported yet. Every call with a
        time reports it; nothing else depends on when.
        """
        earliest = min(self._known.wake_ms, self._node_role.next_expiry_ms())
        return None if earliest == NEVER_MS else earliest

    def expire(self, now_ms: int) -> None:
        """Expire what is over, in order, with events as of the time of each expiry. What expired before the
        start of this engine expires at its start. A driver may call this at any time; the result does not
        depend on it.
        """
        known, node_role = self._known, self._node_role
        while (at_ms := min(known.wake_ms, node_role.next_expiry_ms())) <= now_ms:
            event_ms = max(at_ms, self._began_ms)
            is_any = False
            while (expired := known.pop_expired(at_ms)) is not None:
                is_any = True
                if node_role.on_expired(expired[0], event_ms):
                    self._durable.expire_held(*expired)
                else:
                    self._durable.forget(expired[0])
            if node_role.expire_state(at_ms, event_ms) or is_any:
                self._events.append(HoldingsEnded(event_ms, *self.held()))

    @abstractmethod
    def held(self) -> tuple[int, int, int]:
        """Return the number of held subscriptions and notifications, and the bytes of the latter."""

    def _forget(self, now_ms: int) -> None:
        """Forget ids whose time is over. It needs no timer."""
        while (item_id := self._known.pop_forgotten(now_ms)) is not None:
            self._durable.forget(item_id)

    def datagrams_to_send(self, now_ms: int) -> list[Datagram]:
        """Commit the store, then return the datagrams to send now, in order."""
        out: list[Datagram] = []
        for session in self._sessions.values():
            if session.due_ms <= now_ms:
                if session.due_ms != AT_ONCE_MS:
                    session.update_due()  # Usually the acknowledgement came before the RTO was over.
                if session.due_ms <= now_ms:
                    self._transmitter.transmit(session, now_ms, out)
                    session.update_due()
        if out or self._commits_at_once:
            self._durable.commit()
        return out

    def next_event(self) -> Event | None:
        """Return the next event, or None."""
        return self._events.popleft() if self._events else None

    def role_of(self, peer: int) -> Role | None:
        """Return the role of a peer in contact, or None before its HELLO."""
        session = self._sessions.get(peer)
        return None if session is None else session.role

    def has_peer_in_role(self, role: Role) -> bool:
        """Return whether a peer of this role is in contact and has sent its HELLO."""
        return any(session.role is role for session in self._sessions.values())

    def new_incarnation(self) -> int:
        """Return a number that is greater than in every earlier run, durably, for links that have to order
        messages of this node over restarts.
        """
        number = self._durable.session_number()
        self._durable.commit()
        return number

    def look_up(
        self, question: bytes, now_ms: int, *, hops: int | None = None, timeout_ms: int = LOOKUP_TIMEOUT_MS
    ) -> int:
        """Start a look-up of offers in this partition, over at most `hops` mediators (default:
        `lookup_hops`). The question is in the format of the directory; an empty one matches every offer. One
        `OffersHeard` with the returned number follows when all mediators in reach have answered or the
        timeout is over.
        """
        check_bytes(question, "a question")
        return self._lookups.start(
            question, self.limits.lookup_hops if hops is None else hops, timeout_ms, now_ms
        )

    # ------------------------------------------------------------------ reception

    def _on_lookup_message(self, item: Item, session: PeerSession, size: int, now_ms: int) -> bool:
        """Process a LOOKUP or OFFERS. A question that is not the newest link message of this contact was
        recorded, repeated by the network or overtaken: it is ignored, and a peer that misses an answer
        repeats its question.
        """
        is_news = session.note_link_number(item.number)
        reason: Reason | None = None
        if session.role is None:
            reason = Reason.NO_CONTACT
        elif item.type == OFFERS:
            self._lookups.on_offers(item, session, now_ms)
        elif not is_news:
            pass
        elif self._lookups.admits(session.peer, now_ms):
            self._lookups.on_lookup(item, session, now_ms)
        else:
            reason = Reason.RATE_LIMIT
        if reason is not None:
            self._events.append(DatagramRefused(now_ms, session.peer, size, REASON_NAMES[reason]))
        return is_news and reason is None

    def _tag_fault(self, data: bytes, item: Item, session: PeerSession) -> Reason | None:
        """Return why the tag of a datagram is invalid, or None. The role of the sender is that of its HELLO:
        in this datagram, or earlier in the session.
        """
        body, tag, peer = data[:-TAG_BYTES], data[-TAG_BYTES:], session.peer
        if item.type == HELLO:
            return None if self._authenticator.verifies_hello(body, tag, peer) else Reason.BAD_TAG
        role = summary_role(item)
        if role is None:
            role = session.role
        if role is None:
            return Reason.NO_CONTACT
        is_authentic = self._authenticator.verifies(body, tag, peer, role, session.own_session)
        return None if is_authentic else Reason.BAD_TAG

    def _refuse(self, data: bytes, peer: int, reason: Reason, now_ms: int) -> bool:
        """Report refused bytes; return False: they are not new."""
        self._events.append(DatagramRefused(now_ms, peer, len(data), REASON_NAMES[reason]))
        return False

    def _split_batch(self, payload: bytes, peer: int, now_ms: int) -> list[Item]:
        """Return the messages of a batch, all valid, or raise RemoteProtocolError.

        A summary comes first, then acknowledgements, so that invalid ones are found before anything was
        changed.
        """
        items: list[Item] = []
        rank = _SUMMARY_RANK
        for message in Batch.decode(payload).messages:
            item, check, is_tagged = unpack(message, now_ms)
            if item.number >= LINK_NUMBER:
                if item.origin != peer or _RANKS.get(item.type, -1) < rank:
                    raise RemoteProtocolError(
                        "a batch starts with at most one summary and one acknowledgement"
                    )
                rank = _RANKS[item.type] + 1
            else:
                rank = _ITEM_RANK
            if check != self._table_check or is_tagged:
                raise RemoteProtocolError("a batch has messages of one mission table, without tags")
            items.append(item)
        return items

    def _process(
        self,
        items: list[Item],
        summary: SummaryMessage | None,
        number: int,
        session: PeerSession,
        now_ms: int,
    ) -> None:
        """Process the messages of the datagram with this number. Parts that may be invalid come first. A
        batch whose messages all have the same status is acknowledged as a whole.
        """
        answers: Sequence[tuple[int, int, int]] = ()
        at = 0 if summary is None else 1
        to_answer = len(items)
        answers_number = 0
        if at < to_answer and items[at].type == ACKNOWLEDGEMENT:
            answers = Acknowledgement.decode(items[at].payload).entries
            answers_number = items[at].number
            at += 1
            to_answer -= 1
        answered = len(session.acks)
        if summary is not None:
            self._handshake.on_summary(items[0], summary, session, now_ms)
            if session.is_ready and (self._lookups.is_any or self._node_role.lookup_due_ms() != NEVER_MS):
                self._lookups.on_peer_ready(session, now_ms)
        if answers and session.is_of_session(answers_number):
            self._on_acknowledgement(answers, session, now_ms)
        if at < len(items):
            self._on_items(items[at:] if at else items, session, now_ms)
        if to_answer > 1:
            session.merge_acks(answered, to_answer, session.peer, number)

    def _on_acknowledgement(
        self, entries: Sequence[tuple[int, int, int]], session: PeerSession, now_ms: int
    ) -> None:
        events, peer, node_role = self._events, session.peer, self._node_role
        for origin, number, status in entries:
            word = None if status in HAS_IT else STATUS_NAMES[status]
            for item in session.on_acknowledged(origin << NUMBER_BITS | number, now_ms):
                if item.type != SUMMARY:
                    events.append(MessageAcknowledged(now_ms, item, peer, word))
                    node_role.on_acknowledged(item, status, session, now_ms)

    def _on_items(self, items: Sequence[Item], session: PeerSession, now_ms: int) -> bool:
        """Process messages of one datagram; return whether one of them is new in this contact."""
        events, peer, role = self._events, session.peer, session.role
        if role is None:
            size = sum(item.size for item in items)
            events.append(DatagramRefused(now_ms, peer, size, REASON_NAMES[Reason.NO_CONTACT]))
            return False
        is_news = False
        ends = self._known.ends
        stored: list[Item] = []
        quarantined = self._durable.quarantined
        for item in items:
            item_id = item.id
            has_come = session.note_received(item_id)
            is_known = has_come or item_id in ends
            if is_known:
                status = KNOWN
                if quarantined and item_id in quarantined and item.type in ASKING:
                    status = QUARANTINED
            elif item.expires_ms <= now_ms:
                status = EXPIRED
            elif role is not MEDIATOR and item.origin != peer:
                status = FOREIGN_ORIGIN
            else:
                status = self._take_isolated(item, session, now_ms)
            if status is KNOWN or is_known:
                session.note_taken(item_id)
                events.append(DuplicateReceived(now_ms, item, peer))
                if item.copies:
                    status = self._node_role.duplicate_status(item, session)
            elif status is STORED or status is QUARANTINED:
                session.note_taken(item_id)
                stored.append(item)
            else:
                events.append(MessageRefused(now_ms, item, peer, STATUS_NAMES[status]))
            session.acknowledge(item, status, now_ms)
            is_news = is_news or not has_come
        if stored:
            self._node_role.on_stored(stored, session, now_ms)
        return is_news

    def _take_isolated(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        """Process a message; a rejection of its bytes is a bad payload, any other failure is quarantined.

        The same as `Quarantine.attempt`, inline because every message passes here.
        """
        status: Status | None = None
        if not self._quarantine.holds(item, Work.TAKING):
            try:
                status = self._node_role.take(item, session, now_ms)
            except REFUSALS:
                status = BAD_PAYLOAD
            except StoreError:
                raise
            except Exception as error:
                self._quarantine.put(Work.TAKING, item, error, now_ms, session.peer)
        if status is None:
            status = self._node_role.on_take_failed(item, now_ms)
        if status is not STORED and status is not QUARANTINED:
            self._durable.clear_quarantine(item.id)
        return status
