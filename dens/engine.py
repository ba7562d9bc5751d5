"""What the three kinds of nodes have in common: contacts, sessions, acknowledgements, the store.

How messages leave is in dens/speaking.py; here is what is done with those that come.

Rules that hold for every engine:
- Nothing leaves before everything it depends on is committed: `datagrams_to_send` commits first.
- A message is acknowledged when it is durable, or with the reason for which it never will be.
- Bytes that are malformed, not authentic or of another mission table change nothing.
- What is known already is acknowledged again and otherwise ignored.
- An end speaks for itself only; a mediator relays for others.

A kind of node adds what messages mean to it, through the methods at the end of the class.
"""

from abc import abstractmethod
from typing import ClassVar, Final

from dens import envelope, summary
from dens.arguments import checked_code, checked_node, checked_peer, checked_table_check
from dens.envelope import unpack
from dens.errors import LocalProtocolError, OtherVersionError, RemoteProtocolError
from dens.events import (
    DatagramRefused,
    DuplicateReceived,
    Event,
    MessageAcknowledged,
    MessageRefused,
)
from dens.item import NEVER_MS, Item, ItemId, quick_tuple
from dens.limits import Limits
from dens.machine import Datagram
from dens.messages import Acknowledgement, Bundle, Hello, SummaryMessage
from dens.numbers import (
    ACKNOWLEDGEMENT,
    BAD_PAYLOAD,
    BUNDLE,
    EXPIRED,
    FOREIGN_ORIGIN,
    HELLO,
    KNOWN,
    LINK_NUMBER,
    MEDIATOR,
    REASON_NAMES,
    STATUS_NAMES,
    STORED,
    SUMMARY,
    UNVERIFIED,
    Reason,
    Role,
    Status,
)
from dens.peer_session import AT_ONCE_MS, PeerSession
from dens.quarantine import REFUSALS, Work
from dens.rate_limit import RateLimit
from dens.seal import TAG_BYTES, Sealer
from dens.speaking import Speaker
from dens.store import Store
from dens.summary import Summary

HAS_IT: Final = frozenset({Status.STORED, Status.KNOWN})
"""After these answers the peer has the message."""

_ROLES: Final = {int(role): role for role in Role}


class Engine(Speaker):
    """A protocol machine without an application. `SubscriberEnd`, `PublisherEnd` and `DensNode` are made of
    it.
    """

    commits_at_once: ClassVar[bool] = True
    """Whether what an application asked is committed even if nothing is sent. A mediator has no application,
    and waits for its next acknowledgements, so that one commit serves a batch.
    """

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        sealer: Sealer | None = None,
        limits: Limits | None = None,
    ) -> None:
        checked_node(node)
        checked_table_check(table_check)
        if sealer is not None and sealer.node != node:
            raise LocalProtocolError(
                f"the sealer of node {sealer.node} was given to node {node}; give Sealer({node}, mission key)"
            )
        super().__init__(node, table_check, store, sealer or Sealer(node), limits or Limits())
        self._flags = envelope.SEALED if self._sealer.tag_bytes else 0
        self._known = self._ledger.known
        self._sessions: dict[int, PeerSession] = {}
        self._rate_limit = RateLimit(self.limits)
        held, inbox = self._ledger.load()
        self._restore(held, inbox, now_ms)

    # ------------------------------------------------------------------ the seven verbs

    def receive(self, data: bytes, peer: int, now_ms: int) -> bool:
        """Take bytes that came from a peer; whatever they are, nothing is raised. Say whether they are the
        peer's own and new in this contact.
        """
        session = self._sessions.get(peer)
        if session is None:
            return self._refuse(data, peer, Reason.NO_CONTACT, now_ms)
        try:
            item, check, is_sealed = unpack(data, now_ms)
        except OtherVersionError:
            return self._refuse(data, peer, Reason.VERSION, now_ms)
        except RemoteProtocolError:
            return self._refuse(data, peer, Reason.MALFORMED, now_ms)
        if is_sealed is not bool(session.flags):
            return self._refuse(data, peer, Reason.SEALED if is_sealed else Reason.UNSEALED, now_ms)
        if is_sealed:
            number = 0 if item.type == HELLO else session.own_session
            if not self._sealer.verifies(data[:-TAG_BYTES], data[-TAG_BYTES:], peer, number):
                return self._refuse(data, peer, Reason.BAD_TAG, now_ms)
        if check != self._table_check:
            return self._refuse(data, peer, Reason.TABLE_CHECK, now_ms)
        if self._known.forget_ms < now_ms:
            self._forget(now_ms - 1)
        try:
            if item.number < LINK_NUMBER:
                return self._item_came(item, session, now_ms)
            if item.origin != peer:
                return self._refuse(data, peer, Reason.MALFORMED, now_ms)
            if item.type == HELLO:
                hello = Hello.decode(item.payload)
                if not self._is_admitted(hello, session, now_ms):
                    return self._refuse(data, peer, Reason.RATE_LIMIT, now_ms)
                return self._hello_came(hello, session, now_ms)
            if item.type == ACKNOWLEDGEMENT:
                self._acknowledgement_came(item.payload, session, now_ms)
            elif item.type == BUNDLE:
                for one in self._unbundled(item.payload, now_ms):
                    self._item_came(one, session, now_ms)
            else:
                message = SummaryMessage.decode(item.payload)
                if self._is_news(item, message, session) and not self._rate_limit.admits(peer, now_ms):
                    return self._refuse(data, peer, Reason.RATE_LIMIT, now_ms)
                self._summary_came(item, message, session, now_ms)
        except RemoteProtocolError:
            return self._refuse(data, peer, Reason.MALFORMED, now_ms)
        return session.is_link_news(item.number)

    def contact_opened(self, peer: int, now_ms: int, *, is_trusted: bool = False) -> None:
        """Begin a session: hello goes out until the peer answers. On a trusted link nothing is sealed."""
        checked_peer(peer, self.node)
        self._sessions.pop(peer, None)
        number = self._ledger.session_number()
        flags = 0 if is_trusted else self._flags
        self._sessions[peer] = PeerSession(peer, number, now_ms, self.limits, flags)

    def contact_lost(self, peer: int, now_ms: int) -> None:
        """Throw the session away; what was not acknowledged is offered again at the next contact."""
        self._sessions.pop(peer, None)

    def is_unverified(self, item_id: ItemId) -> bool:
        """Say whether a message that is held here came over a trusted link, without a tag in a mission that
        has a key."""
        return self._ledger.is_unverified(item_id)

    def _mark(self, item_id: ItemId, session: PeerSession) -> str | None:
        """Mark a message that has just been taken if nothing verified it; return the word for events."""
        if session.flags == self._flags:
            return None
        self._ledger.mark_unverified(item_id)
        return UNVERIFIED

    def next_timer_ms(self) -> int | None:
        """Return when something becomes due: an expiry, a hello, a retry, a batch of acknowledgements."""
        earliest = self._next_end_ms()
        for session in self._sessions.values():
            if session.due_ms < earliest:
                earliest = session.due_ms
        return None if earliest == NEVER_MS else earliest

    def timer_due(self, now_ms: int) -> None:
        """Forget what has expired. What sessions want to send is found by `datagrams_to_send`."""
        known, ledger = self._known, self._ledger
        if known.forget_ms <= now_ms:
            self._forget(now_ms)
        while known.wake_ms <= now_ms and (ended := known.pop_ended(now_ms)) is not None:
            if self._ended(ended[0], now_ms):
                ledger.held_ended(*ended)
            else:
                ledger.forget(ended[0])

    def _forget(self, now_ms: int) -> None:
        """Forget what was only known until now. No timer asks for it: it is done where it is seen."""
        while (item_id := self._known.pop_forgotten(now_ms)) is not None:
            self._ledger.forget(item_id)

    def datagrams_to_send(self, now_ms: int) -> list[Datagram]:
        """Commit the store, then return what should be sent now, in order."""
        out: list[Datagram] = []
        for session in self._sessions.values():
            if session.due_ms <= now_ms:
                if session.due_ms != AT_ONCE_MS:
                    session.rest()  # Mostly the answer came before the patience was over.
                if session.due_ms <= now_ms:
                    self._speak(session, now_ms, out)
                    session.rest()
        if out or self.commits_at_once:
            self._ledger.commit()
        return out

    def next_event(self) -> Event | None:
        """Return the next thing that happened, or None."""
        return self._events.popleft() if self._events else None

    def role_of(self, peer: int) -> Role | None:
        """Return what a peer in contact has greeted as, or None before it has."""
        session = self._sessions.get(peer)
        return None if session is None else session.role

    # ------------------------------------------------------------------ what comes in

    def _refuse(self, data: bytes, peer: int, reason: Reason, now_ms: int) -> bool:
        """Tell that bytes were refused; they are no news of the peer."""
        self._events.append(DatagramRefused(now_ms, peer, len(data), REASON_NAMES[reason]))
        return False

    def _unbundled(self, payload: bytes, now_ms: int) -> list[Item]:
        """Return the messages of a bundle; all of them are good, or RemoteProtocolError is raised."""
        items: list[Item] = []
        for message in Bundle.decode(payload).messages:
            item, check, is_sealed = unpack(message, now_ms)
            if item.number >= LINK_NUMBER or check != self._table_check or is_sealed:
                raise RemoteProtocolError("a bundle carries stored messages of one mission table")
            items.append(item)
        return items

    def _is_admitted(self, hello: Hello, session: PeerSession, now_ms: int) -> bool:
        """Say whether a greeting may be taken: one that begins a new session has its price."""
        return hello.session <= session.peer_session or self._rate_limit.admits(session.peer, now_ms)

    @staticmethod
    def _is_news(item: Item, message: SummaryMessage, session: PeerSession) -> bool:
        """Say whether a summary would begin a session, or change what the peer is known to have."""
        theirs, known = message.hello.session, session.peer_session
        return theirs > known or (
            theirs == known and session.is_ready and session.summary_number != item.number
        )

    def _hello_came(self, hello: Hello, session: PeerSession, now_ms: int) -> bool:
        """Take a greeting, and say whether it begins a session. One that is repeated while ours is old says
        that ours was lost: it is answered.

        Not where a summary says the same until it is acknowledged: over a slow link every old greeting would
        be answered by another, for as long as the contact lasts.
        """
        is_new = session.greet(_ROLES[hello.role], hello.session, hello.heard)
        says_summary = self.role is MEDIATOR or session.role is MEDIATOR
        if is_new and says_summary:
            session.offer(-1, (self.node, self._ledger.link_number()), SUMMARY)
        elif hello.heard != session.own_session or (
            not says_summary and (is_new or session.hello_due_ms <= now_ms)
        ):
            session.owe_hello()
        return is_new

    def _summary_came(self, item: Item, message: SummaryMessage, session: PeerSession, now_ms: int) -> None:
        """Take a summary; a bad one changes nothing, and one that is late or known is not looked into."""
        theirs = message.hello.session
        is_known = session.is_ready and session.summary_number == item.number
        is_read = theirs > session.peer_session or (theirs == session.peer_session and not is_known)
        known = self._understand(message) if is_read else None
        self._hello_came(message.hello, session, now_ms)
        if theirs != session.peer_session:
            return
        session.acknowledge(item, STORED, now_ms)
        if known is None:
            return
        session.summarise(item.number, known, message.hosts)
        self._peer_ready(session, known, message.note, now_ms)

    def _acknowledgement_came(self, payload: bytes, session: PeerSession, now_ms: int) -> None:
        events, peer = self._events, session.peer
        for origin, number, status in Acknowledgement.decode(payload).entries:
            flight = session.acknowledged((origin, number), now_ms)
            if flight is None or flight.item.type == SUMMARY:
                continue
            word = None if status in HAS_IT else STATUS_NAMES[status]
            events.append(quick_tuple(MessageAcknowledged, (now_ms, flight.item, peer, word, ())))
            self._acknowledged(flight.item, status, session, now_ms)

    def _item_came(self, item: Item, session: PeerSession, now_ms: int) -> bool:
        """Take a message; say whether it came for the first time in this contact."""
        if session.role is None:
            self._events.append(
                DatagramRefused(now_ms, session.peer, item.size, REASON_NAMES[Reason.NO_CONTACT])
            )
            return False
        item_id = item.id
        has_come = session.came(item_id)
        if has_come or item_id in self._known.ends:
            status = KNOWN
        elif item.expires_ms <= now_ms:
            status = EXPIRED
        elif session.role is not MEDIATOR and item.origin != session.peer:
            status = FOREIGN_ORIGIN
        else:
            status = self._take_carefully(item, session, now_ms)
        if status is STORED:
            session.took(item_id)
        elif status is KNOWN:
            session.took(item_id)
            self._events.append(DuplicateReceived(now_ms, item, session.peer))
        else:
            self._events.append(MessageRefused(now_ms, item, session.peer, STATUS_NAMES[status]))
        session.acknowledge(item, status, now_ms)
        return not has_come

    def _take_carefully(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        """Take a message whatever happens; bytes that it refuses to read are a bad payload."""
        try:
            status = self._quarantine.attempt(
                Work.TAKING,
                item,
                now_ms,
                self._take,
                item,
                session,
                now_ms,
                otherwise=None,
                peer=session.peer,
                lets_refuse=True,
            )
        except REFUSALS:
            status = BAD_PAYLOAD
        if status is None:
            status = self._could_not_take(item, now_ms)
        if status is not STORED:
            self._ledger.release(item.id)
        return status

    # ------------------------------------------------------------------ what may be done otherwise

    def _could_not_take(self, item: Item, now_ms: int) -> Status:
        """Say what becomes of a message that could not be taken: an end asks for it no more."""
        self._ledger.know(item)
        return BAD_PAYLOAD

    def _make(self, type: int, language: int, lifetime_q: int, payload: bytes, created_ms: int) -> Item:
        checked_code(language, "language")
        checked_code(lifetime_q, "lifetime code")
        number = self._ledger.item_number()
        return Item(type, language, self.node, number, created_ms, lifetime_q, 0, payload)

    def _next_end_ms(self) -> int:
        return self._known.wake_ms

    def _understand(self, message: SummaryMessage) -> Summary:
        """Return what a peer's summary says, or raise RemoteProtocolError."""
        return summary.decode(message.known)

    # ------------------------------------------------------------------ what messages mean: each kind of node

    @abstractmethod
    def _restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Take up what was committed before a restart; expired messages too, which end at the first timer."""

    @abstractmethod
    def _peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Queue what the peer lacks; `known` is what it has."""

    @abstractmethod
    def _take(self, item: Item, session: PeerSession, now_ms: int) -> Status | None:
        """Take a message that is new, unexpired and the peer's to send; say how. None says that it cannot."""

    @abstractmethod
    def _acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Learn how a peer took a message; `item` is what was sent."""

    @abstractmethod
    def _ended(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget a message whose lifetime is over; say whether it is to be remembered for longer."""
