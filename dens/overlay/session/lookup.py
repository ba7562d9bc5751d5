"""Distributed look-ups: which publishers of this partition offer something.

The echo algorithm (Chang, 1982), with bounds. A node sends its question to its mediators. A mediator that
receives a look-up for the first time remembers its sender, answers from its own directory, and forwards the
question to the other mediators in contact, with a shorter timeout and one hop less. When all of them have
answered, or the timeout is over, it sends one answer back. A mediator that receives the same look-up from
another peer returns an empty answer, so cycles end.

Nothing is stored or acknowledged. A node that waits for an answer repeats its question under the same id; a
mediator remembers its answers for a while and repeats them. A lost contact, a missing answer and the hop
limit make an answer partial, and its flags state that.

The cost is bounded: a token per question of a peer, new or repeated; a maximum of open look-ups, of which no
peer has more than a quarter; a maximum of bytes of offers per look-up.
"""

from typing import Final

from dens.overlay.errors import LocalProtocolError, RemoteProtocolError
from dens.overlay.events import HeardOffer, OffersHeard
from dens.overlay.session.context import NodeContext
from dens.overlay.session.gathered_offers import DISTANCE_MAX, GatheredOffers
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.quarantine import Work
from dens.overlay.session.rate_limit import RateLimit
from dens.overlay.session.role import NodeRole
from dens.overlay.wire.codes import ANNOUNCE, LOOKUP, MEDIATOR, OFFERS
from dens.overlay.wire.envelope import unpack
from dens.overlay.wire.item import NEVER_MS, Item
from dens.overlay.wire.lookup_messages import (
    BUSY,
    FAR,
    LATE,
    LOST,
    QUESTION_BYTES,
    TIMEOUT_MAX_MS,
    Lookup,
    OfferEntry,
    Offers,
)
from watchdog.vector import VectorError

LOOKUP_TIMEOUT_MS: Final = 3_000
"""Default timeout of a look-up."""
_TIMEOUT_MIN_MS: Final = 50
"""A question with a shorter timeout is not forwarded."""


class _Query:
    """A question to a peer, and the parts of its answer so far."""

    __slots__ = ("again_ms", "parts", "seen")

    def __init__(self, again_ms: int) -> None:
        self.again_ms = again_ms
        self.parts = 0
        self.seen: set[int] = set()


class _OpenLookup:
    """One look-up in which this node takes part."""

    __slots__ = (
        "answer",
        "began_ms",
        "is_open",
        "message",
        "parent",
        "queried",
        "until_ms",
        "waiting",
    )

    def __init__(self, message: Lookup, parent: int | None, most_bytes: int, now_ms: int) -> None:
        self.message = message
        """The question as this node forwards it."""
        self.parent = parent
        """The peer that sent the question; None for a look-up of this node."""
        self.began_ms = now_ms
        self.until_ms = now_ms
        self.answer = GatheredOffers(most_bytes)
        self.queried: set[int] = set()
        self.waiting: dict[int, _Query] = {}
        self.is_open = True


class Lookups:
    """All look-ups in which a node takes part."""

    __slots__ = (
        "_context",
        "_lookups",
        "_node_role",
        "_rate_limit",
        "_table_check",
        "due_ms",
    )

    def __init__(self, context: NodeContext, table_check: int, node_role: NodeRole) -> None:
        self._context = context
        self._node_role = node_role
        self._table_check = table_check
        self._rate_limit = RateLimit(context.limits.lookup_ms, context.limits.lookup_burst)
        self._lookups: dict[tuple[int, int], _OpenLookup] = {}
        self.due_ms = NEVER_MS
        """When `timer_due` is needed."""

    def __len__(self) -> int:
        return len(self._lookups)

    @property
    def is_any(self) -> bool:
        """Return whether there is a look-up, open or remembered."""
        return bool(self._lookups)

    # ------------------------------------------------------------------ look-ups of this node

    def start(self, question: bytes, hops: int, timeout_ms: int, now_ms: int) -> int:
        """Query the mediators in contact, and those that are met meanwhile; return the number of the look-up,
        which is also that of its one `OffersHeard`.
        """
        context = self._context
        if len(question) > QUESTION_BYTES:
            raise LocalProtocolError(f"a question has at most {QUESTION_BYTES} bytes, not {len(question)}")
        if not 1 <= timeout_ms <= TIMEOUT_MAX_MS:
            raise LocalProtocolError(f"the timeout is 1 to {TIMEOUT_MAX_MS} ms, not {timeout_ms}")
        if not 1 <= hops <= DISTANCE_MAX:
            raise LocalProtocolError(f"a look-up passes 1 to {DISTANCE_MAX} mediators, not {hops}")
        if not self._has_room_for(None, now_ms):
            raise LocalProtocolError("too many look-ups are open; wait for their answers")
        try:
            offered = self._node_role.offers_for(question)
        except VectorError as error:
            raise LocalProtocolError(f"invalid question: {error}") from None
        number = context.durable.session_number()
        message = Lookup(context.node, number, hops - 1, _onward_timeout_ms(timeout_ms), question)
        own = self._lookups[context.node, number] = _OpenLookup(
            message, None, context.limits.offers_bytes, now_ms
        )
        own.until_ms = now_ms + timeout_ms
        for offer in offered:
            own.answer.add(offer.distance, offer.item)
        for session in context.sessions.values():
            self._query_peer(own, session, now_ms)
        self._update_due()
        return number

    def start_due(self, now_ms: int) -> None:
        """Start the look-up that the role needs by now, if any."""
        if self._node_role.lookup_due_ms() <= now_ms:
            request = self._node_role.next_question(now_ms)
            if request is not None and self._has_room_for(None, now_ms):
                question, hops, timeout_ms = request
                self._node_role.on_lookup_started(self.start(question, hops, timeout_ms, now_ms))
        self._update_due()

    def _query_peer(self, lookup: _OpenLookup, session: PeerSession, now_ms: int) -> None:
        """Send the question to a mediator, or repeat it."""
        if not session.is_ready or session.role is not MEDIATOR or session.peer == lookup.parent:
            return
        lookup.queried.add(session.peer)
        again_ms = now_ms + self._context.limits.retry_ms
        waiting = lookup.waiting.get(session.peer)
        if waiting is None:
            lookup.waiting[session.peer] = _Query(again_ms)
        else:
            waiting.again_ms = again_ms
        session.send_link_message(LOOKUP, lookup.message.encode())

    # ------------------------------------------------------------------ look-ups of others

    def admits(self, peer: int, now_ms: int) -> bool:
        """Return whether a question of this peer passes the rate limit."""
        return self._rate_limit.admits(peer, now_ms)

    def on_lookup(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Process a question; an invalid one raises RemoteProtocolError and changes nothing."""
        message, peer = Lookup.decode(item.payload), session.peer
        if self._node_role.role is not MEDIATOR:
            raise RemoteProtocolError("endpoints do not answer look-ups")
        if session.role is not MEDIATOR and message.asker != peer:
            raise RemoteProtocolError("an endpoint sends its own look-ups only")
        known = self._lookups.get((message.asker, message.number))
        if known is not None and known.parent == peer:
            if not known.is_open:
                self._send_answer(known, session, now_ms)
        elif known is not None or message.asker == self._context.node:
            self._send_empty_answer(message, 0, session)
        else:
            offered = self._offered(message, item, session, now_ms)
            if self._has_room_for(peer, now_ms):
                self._begin(message, offered, session, now_ms)
            else:
                self._send_empty_answer(message, BUSY, session)
        self._update_due()

    def _offered(self, message: Lookup, item: Item, session: PeerSession, now_ms: int) -> list[HeardOffer]:
        """Return the matching offers of this node's directory; reject an invalid question."""
        nothing: list[HeardOffer] = []
        try:
            return self._context.quarantine.attempt(
                Work.LOOKUP,
                item,
                now_ms,
                self._node_role.offers_for,
                message.question,
                otherwise=nothing,
                peer=session.peer,
                may_reject=True,
            )
        except VectorError as error:
            raise RemoteProtocolError(str(error)) from None

    def _begin(self, message: Lookup, offered: list[HeardOffer], parent: PeerSession, now_ms: int) -> None:
        """Collect the offers of this node, and forward the question to other mediators if permitted."""
        limits = self._context.limits
        hops = min(message.hops, limits.lookup_hops - 1)
        onward_ms = _onward_timeout_ms(message.timeout_ms)
        on = Lookup(message.asker, message.number, max(hops - 1, 0), onward_ms, message.question)
        lookup = _OpenLookup(on, parent.peer, limits.offers_bytes, now_ms)
        lookup.until_ms = now_ms + message.timeout_ms
        self._lookups[message.asker, message.number] = lookup
        lookup.answer.mediators = 1
        for offer in offered:
            if offer.item.origin != message.asker:  # The asker knows its own offers.
                lookup.answer.add(offer.distance, offer.item)
        others = [
            session
            for session in self._context.sessions.values()
            if session.role is MEDIATOR and session is not parent
        ]
        if not all(session.is_ready for session in others):
            lookup.answer.flags |= LATE  # A session is open and not ready for questions.
        if others and (hops < 1 or onward_ms < _TIMEOUT_MIN_MS):
            lookup.answer.flags |= FAR
        else:
            for session in others:
                self._query_peer(lookup, session, now_ms)
        self._finish_if_answered(lookup, now_ms)

    def _has_room_for(self, parent: int | None, now_ms: int) -> bool:
        """Make room for a look-up of this peer, or of this node (None); return whether there is. Answered
        ones are forgotten first, the oldest one; those of the peer itself if it has its share.
        """
        most = self._context.limits.lookups
        for key, lookup in list(self._lookups.items()):
            forget_ms = lookup.until_ms + (lookup.until_ms - lookup.began_ms)
            if not lookup.is_open and not lookup.began_ms <= now_ms < forget_ms:
                del self._lookups[key]
        own = [key for key, lookup in self._lookups.items() if lookup.parent == parent]
        rivals = own if len(own) >= max(1, most // 4) else list(self._lookups)
        if rivals is not own and len(rivals) < most:
            return True
        for key in rivals:
            if not self._lookups[key].is_open:
                del self._lookups[key]
                return True
        return False

    # ------------------------------------------------------------------ answers

    def on_offers(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Process a part of an answer. An invalid one raises RemoteProtocolError and changes nothing; an
        unexpected one is ignored.
        """
        message = Offers.decode(item.payload)
        if session.role is not MEDIATOR:
            raise RemoteProtocolError("only a mediator answers a look-up")
        lookup = self._lookups.get((message.asker, message.number))
        waiting = None if lookup is None else lookup.waiting.get(session.peer)
        if lookup is None or waiting is None or message.part in waiting.seen:
            return
        if waiting.parts not in (0, message.parts):
            raise RemoteProtocolError("an answer does not change its number of parts")
        offers = [self._announcement(entry, now_ms) for entry in message.entries]
        waiting.parts = message.parts
        waiting.seen.add(message.part)
        for offer in offers:
            if offer.item.expires_ms > now_ms and offer.item.origin != message.asker:
                lookup.answer.add(offer.distance, offer.item)
        if len(waiting.seen) == waiting.parts:
            del lookup.waiting[session.peer]
            lookup.answer.add_answer(message.flags, message.mediators)
            self._finish_if_answered(lookup, now_ms)
        self._update_due()

    def _announcement(self, entry: OfferEntry, now_ms: int) -> HeardOffer:
        item, check, is_tagged = unpack(entry.message, now_ms)
        if item.type != ANNOUNCE or check != self._table_check or is_tagged:
            raise RemoteProtocolError("an offer is an announcement of the same mission table, without a tag")
        return HeardOffer(min(entry.distance + 1, DISTANCE_MAX) if entry.distance else 0, item)

    def _finish_if_answered(self, lookup: _OpenLookup, now_ms: int) -> None:
        """Finish a look-up when all queried mediators have answered. One of this node waits for a mediator to
        query.
        """
        if lookup.waiting or (lookup.parent is None and not lookup.queried):
            return
        self._finish(lookup, now_ms)

    def _finish(self, lookup: _OpenLookup, now_ms: int) -> None:
        """Answer with the offers so far."""
        lookup.waiting.clear()
        lookup.is_open = False
        if lookup.parent is not None:
            session = self._context.sessions.get(lookup.parent)
            if session is not None and session.role is not None:
                self._send_answer(lookup, session, now_ms)
            return
        message, answer = lookup.message, lookup.answer
        del self._lookups[message.asker, message.number]
        offers = answer.offers(now_ms)
        heard = OffersHeard(
            now_ms, message.number, message.question, offers, answer.mediators, answer.missing()
        )
        self._context.events.append(heard)
        self._node_role.on_lookup_done(heard, now_ms)

    def _send_answer(self, lookup: _OpenLookup, session: PeerSession, now_ms: int) -> None:
        message = lookup.message
        for part in lookup.answer.parts(message.asker, message.number, self._table_check, now_ms):
            session.send_link_message(OFFERS, part.encode())

    def _send_empty_answer(self, message: Lookup, flags: int, session: PeerSession) -> None:
        nothing = Offers(message.asker, message.number, 0, 1, flags, 0, ())
        session.send_link_message(OFFERS, nothing.encode())

    # ------------------------------------------------------------------ contacts and time

    def on_peer_ready(self, session: PeerSession, now_ms: int) -> None:
        """Query a mediator that is ready for questions: look-ups of this node; of others only if it was
        queried in a contact that was restarted since.
        """
        if session.role is MEDIATOR:
            for lookup in list(self._lookups.values()):
                is_waited_for = session.peer in lookup.waiting
                if lookup.is_open and (
                    is_waited_for or (lookup.parent is None and session.peer not in lookup.queried)
                ):
                    self._query_peer(lookup, session, now_ms)
        self.start_due(now_ms)

    def contact_lost(self, peer: int, now_ms: int) -> None:
        """Stop waiting for the answers of a lost peer, and forget its look-ups."""
        for key, lookup in list(self._lookups.items()):
            if lookup.parent == peer:
                del self._lookups[key]
            elif lookup.waiting.pop(peer, None) is not None:
                lookup.answer.flags |= LOST
                self._finish_if_answered(lookup, now_ms)
        self._update_due()

    def timer_due(self, now_ms: int) -> None:
        """Finish look-ups whose timeout is over, and repeat unanswered questions. If the clock was set back,
        look-ups that started later finish too.
        """
        for lookup in list(self._lookups.values()):
            if not lookup.is_open:
                continue
            if not lookup.began_ms <= now_ms < lookup.until_ms:
                if lookup.waiting:
                    lookup.answer.flags |= LATE
                self._finish(lookup, now_ms)
                continue
            for peer, waiting in lookup.waiting.items():
                if waiting.again_ms <= now_ms:
                    waiting.again_ms = now_ms + self._context.limits.retry_ms
                    session = self._context.sessions.get(peer)
                    if session is not None:
                        self._query_peer(lookup, session, now_ms)
        self.start_due(now_ms)

    def _update_due(self) -> None:
        """Compute `due_ms`."""
        due_ms = self._node_role.lookup_due_ms()
        for lookup in self._lookups.values():
            if lookup.is_open:
                due_ms = min(due_ms, lookup.until_ms)
                for waiting in lookup.waiting.values():
                    due_ms = min(due_ms, waiting.again_ms)
        self.due_ms = due_ms


def _onward_timeout_ms(timeout_ms: int) -> int:
    """Return the timeout for the next mediator, which leaves time to return its answer."""
    return max(timeout_ms * 3 // 4, 1)
