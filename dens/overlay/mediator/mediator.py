"""What messages mean to a mediator, and whom it tells of them.

    SUBSCRIBE, RENEW   relay, install where it can be served
    UNSUBSCRIBE        relay, remove its filters
    ANNOUNCE           relay, install at that publisher what it can serve
    NOTIFICATION       relay as the policy says, notify whom it is owed to; so too what is made of it
    NOTIFY             notify the ends of this device, for whom alone it came
    RECEIPT            relay

What it holds is in dens/overlay/mediator/state.py, what each message changes there in
dens/overlay/mediator/handlers.py.
"""

from collections.abc import Sequence
from typing import Final

from dens.interfaces import Identities
from dens.overlay.events import CopyReplicated, MessageStored
from dens.overlay.mediator.delivery import Delivery
from dens.overlay.mediator.handlers import MessageHandlers
from dens.overlay.mediator.installation import REFUSES_WHOLE, Installation
from dens.overlay.mediator.rendering import MessageRenderer
from dens.overlay.mediator.replication import Replication
from dens.overlay.mediator.role import MediatingRole
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.signatures import verifies_signature
from dens.overlay.storage.notification_store import Carried
from dens.overlay.wire.codes import (
    ASKING,
    DIRECT_LANGUAGE,
    INSTALL,
    KNOWN,
    LAST_NODE,
    MEDIATOR,
    NOT_SIGNED,
    NOTIFICATION,
    NOTIFY,
    PUBLISHER,
    QUARANTINED,
    STORED,
    SUBSCRIBER,
    SUPERSEDED,
    UNEXPECTED,
    UNSUBSCRIBE,
    Status,
)
from dens.overlay.wire.item import NUMBER_BITS, Item, ItemId
from dens.overlay.wire.messages import SummaryMessage
from dens.overlay.wire.summary import Summary

_DELIVERY: Final = 0
"""What an end in contact is owed goes first, whether the end is met itself or its host."""
_EVENTS: Final = frozenset({NOTIFICATION, NOTIFY})


class Mediator(MediatingRole):
    """Learns, relays, installs and notifies."""

    __slots__ = (
        "_delivery",
        "_handlers",
        "_identities",
        "_installation",
        "_renderer",
        "_replication",
    )

    def __init__(
        self,
        context: NodeContext,
        state: MediatorState,
        replication: Replication,
        identities: Identities | None,
    ) -> None:
        super().__init__(context, state)
        self._replication = replication
        self._handlers = MessageHandlers(context, state, self._notify)
        self._installation = Installation(context, state)
        self._renderer = MessageRenderer(state, replication)
        self._identities = identities
        self._delivery = Delivery(context, state, self._notify)

    # ------------------------------------------------------------------ what an engine asks

    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Take up what was held; a mediator has no inbox."""
        self._handlers.restore(held, now_ms)
        self._replication.restore(now_ms)

    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Relay a message that this node can do nothing with."""
        return self._state.hold_for_relay(item, now_ms)

    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget a message whose lifetime is over."""
        return self._handlers.expire(item_id, now_ms)

    def _read_mediator_summary(self, message: SummaryMessage) -> Summary:
        """Return where the summary of another mediator differs from what is known here."""
        return self._durable.known.compare(message.known, message.first, message.last)

    def relays_as_held(self) -> bool:
        """Return whether the replication policy shares everything."""
        return self._replication.shares_everything

    def reserves_copies(self) -> bool:
        """Return whether the replication policy may count copies."""
        return not self._replication.shares_everything

    def summary_note(self, session: PeerSession, now_ms: int) -> bytes:
        """Return what the replication policy tells its peers."""
        return self._replication.note(session, now_ms)

    def hosts_for(self, session: PeerSession) -> tuple[int, ...]:
        """Return the ends of this device, where a peer can make use of them."""
        return self._replication.hosts_for(session)

    # ------------------------------------------------------------------ taking messages

    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        """Take a message: believe it, learn it, and pass it on."""
        if not verifies_signature(item, self._identities, self._context.quarantine, session.peer, now_ms):
            return NOT_SIGNED
        if item.type == NOTIFY and session.role is not MEDIATOR:
            return UNEXPECTED
        status = self._handlers.handle(item, session.peer, now_ms)
        if self._state.composition.news:
            self._offer_composites(now_ms)
        if status is STORED or status is QUARANTINED:
            happened = CopyReplicated if session.role is MEDIATOR else MessageStored
            context = self._context
            if self._replication.counts_copies and (carried := self._state.carried.get(item.id)) is not None:
                carried.giver = session.peer
            word = None if session.flags == context.flags else context.mark(item.id, session)
            context.events.append(happened(now_ms, item, session.peer, word))
        elif status is SUPERSEDED and item.type != NOTIFY:
            self._durable.know(item)
        return status

    # ------------------------------------------------------------------ giving messages

    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Queue what a peer lacks, each kind of peer its own."""
        role = session.role
        self._replication.met(session, note if role is MEDIATOR else b"", now_ms)
        if role is MEDIATOR:
            session.taken_before = self._state.carried.added
            if self._state.composition.is_on and self._replication.made and session.covered == LAST_NODE:
                self._note_composers(session.peer, known, now_ms)
            self.on_summary_part(session, known, 0, now_ms)
        elif role is SUBSCRIBER:
            self._delivery.met(session, now_ms)
        else:
            self._installation.offer_all(session, note, now_ms)

    def _note_composers(self, peer: int, known: Summary, now_ms: int) -> None:
        """Note of which composites a mediator that lacks them has all parts, as its whole summary says: it
        has made them itself.
        """
        held, composition, seen = self._state.items, self._state.composition, self._durable.known
        composites = [
            held[id] for id in known.lacking if id in held and held[id].language in composition.languages
        ]
        if composites:
            lacking = set(known.lacking)
            for item in composites:
                if item.type == NOTIFICATION:
                    composition.is_made_by(
                        peer, item, lambda part: part in seen and part not in lacking, now_ms
                    )

    def on_summary_part(self, session: PeerSession, known: Summary, first: int, now_ms: int) -> None:
        """Queue what a mediator lacks."""
        if self._durable.reservations.by_item:
            self._settle_reservations(session, known, first, now_ms)
        held = self._state.items
        missing = [(held[id].created_ms, id) for id in known.lacking if id in held]
        missing.sort()  # By identity among equals, as they are.
        if self._state.covering.is_on:  # What stands for others reaches furthest, so it goes first.
            missing.sort(key=lambda one: self._installation.rank(held[one[1]], now_ms))
        for _, id in missing:
            self._offer(held[id], session, now_ms)

    def _settle_reservations(self, session: PeerSession, known: Summary, first: int, now_ms: int) -> None:
        """Decide about copies that a mediator has not answered, by what its summary says of these origins. It
        has what it names. What it lacks it never got, if the copy was sent to an earlier session of it, for
        which nothing verifies any more. Of what is under way in this session its answer decides.
        """
        durable, peer = self._durable, session.peer
        lacking = set(known.lacking)
        returned: list[Item] = []
        for item_id, reservation in durable.reservations.sent_to(peer):
            if not first <= item_id >> NUMBER_BITS <= session.covered or session.is_unanswered(item_id):
                continue
            if item_id not in lacking:
                durable.settle(item_id, peer)
            elif reservation.session < session.peer_session:
                returned.append(self._give_back(self._state.items[item_id], peer, now_ms))
        for item in returned:
            self._offer_returned(item, now_ms)

    def _give_back(self, held: Item, peer: int, now_ms: int) -> Item:
        """Take back a copy that a peer did not take; return the message as it is held now."""
        code = self._replication.give_back(held, peer, now_ms)
        if code != held.copies:
            held = held.replace(copies=code)
            self._state.replace_copies(held)
        return held

    def _offer_returned(self, item: Item, now_ms: int) -> None:
        """Offer a copy that was returned to the mediators in contact."""
        for session in self._sessions.values():
            if session.is_ready and session.role is MEDIATOR:
                self._offer_earlier(item, session, now_ms)

    def _offer_earlier(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Queue a notification that may have been here when the mediator's summary came. Then the summary
        says whether the mediator lacks it; a counted copy for one that has it would be spent.
        """
        carried = self._state.carried.get(item.id)
        if (
            not self._replication.counts_copies
            or carried is None
            or carried.order > session.taken_before
            or session.summary_lacked(item.id)
        ):
            self._offer(item, session, now_ms)

    def on_transmit(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Reserve a counted copy when it is sent."""
        if item.copies and session.role is MEDIATOR:
            held = self._state.items[item.id]
            kept = self._replication.reserve(held, item.copies, session, now_ms)
            if kept != held.copies:
                self._state.replace_copies(held.replace(copies=kept))

    def duplicate_status(self, item: Item, session: PeerSession) -> Status:
        """Answer a counted copy of a known message. *Known* says that it came from somebody else, so that the
        copy is still the sender's; where that is not certain, the copy counts as stored.
        """
        carried = self._state.carried.get(item.id)
        if carried is None or carried.giver is None:
            return STORED
        return STORED if carried.giver == session.peer and carried.item.type == NOTIFICATION else KNOWN

    def _offer(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Queue a message for a mediator that has use for it; what came for the ends of this device alone
        goes to no other. Where the part of its summary that would name it has not come yet, that part will
        tell.
        """
        type = item.type
        priority = self._handlers.rows[type].priority
        if priority < 0 or item.origin > session.covered or not session.lacks(item.id):
            return
        if type == NOTIFICATION:
            if item.language in self._replication.made and self._replication.is_composed_there(
                item, session, now_ms
            ):
                return
            if self._replication.share(item, session.peer, now_ms) is None:
                if self._replication.pending_for_hosted(item.id, session) is None:
                    return
                priority = _DELIVERY
        elif type in ASKING and item.language == DIRECT_LANGUAGE and not self._replication.relays_plain(item):
            return
        session.enqueue(priority, item.id, type, item.size)

    def on_stored(self, items: Sequence[Item], giver: PeerSession, now_ms: int) -> None:
        """Give what has just been learnt to those in contact whom it concerns, but not back. What could not
        be taken is relayed at the next contact.
        """
        if self._state.relay_only:
            items = [item for item in items if item.id not in self._state.relay_only]
        for item in items:
            self._installation.offer_stored(item, now_ms)
        for session in self._sessions.values():
            if session is giver or not session.is_ready:
                continue
            if session.role is MEDIATOR:
                for item in items:
                    self._offer(item, session, now_ms)
            elif session.role is PUBLISHER:
                for item in items:
                    if item.type == UNSUBSCRIBE:
                        self._installation.offer_removal(item, session)
        for item in items:
            carried = self._state.carried.get(item.id) if item.type in _EVENTS else None
            if carried is not None:
                for subscriber in list(carried.pending):
                    self._tell(carried, subscriber, now_ms)
        self._delivery.deferred.find_by(now_ms)

    def _offer_composites(self, now_ms: int) -> None:
        """Give what was made here, or is made nowhere else any more, to those in contact whom it concerns."""
        news = self._state.composition.news
        made = [one for item_id in news if (one := self._state.carried.get(item_id)) is not None]
        news.clear()
        for carried in made:
            for session in self._sessions.values():
                if session.is_ready and session.role is MEDIATOR:
                    self._offer(carried.item, session, now_ms)
            for subscriber in list(carried.pending):
                self._tell(carried, subscriber, now_ms)

    def _tell(self, carried: Carried, subscriber: int, now_ms: int) -> None:
        if self._delivery.offer(carried, subscriber):
            self._state.release_if_done(carried.item.id, now_ms)

    def _notify(self, carried: Carried, subscriber: int, now_ms: int) -> None:
        self._tell(carried, subscriber, now_ms)
        asks = self._replication.asks_who_is_owed
        for session in self._sessions.values():
            if (asks or subscriber in session.hosts) and session.is_ready and session.role is MEDIATOR:
                self._offer_earlier(carried.item, session, now_ms)

    def held(self, item_id: ItemId) -> Item | None:
        """Return a message, or a part of one, that is held."""
        return self._state.items.get(item_id) or self._state.parts.get(item_id)

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message in the form that its receiver needs."""
        return self._renderer.frame(item, type, session, now_ms)

    def on_acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Learn how a peer took a message: who is owed no more, which copies are settled, who wants parts."""
        if item.type == NOTIFY:
            if session.role is MEDIATOR:
                return  # Whether its ends have it their receipts say.
            if self._delivery.acknowledged(item, status, session):
                self._state.release_if_done(item.id, now_ms)
            self._delivery.deferred.find_more(session, now_ms)
        elif item.type == NOTIFICATION:
            if item.copies:
                self._copy_answered(item.id, status, session.peer, now_ms)
        elif item.type == INSTALL:
            if status in REFUSES_WHOLE:
                self._installation.refused(item, status, session, now_ms)
            self._installation.answered(item, status, session, now_ms)

    def _copy_answered(self, item_id: ItemId, status: int, peer: int, now_ms: int) -> None:
        """Settle the copy that a peer stored, or give the one that it did not take to somebody else."""
        reserved = self._durable.reservations.by_item.get(item_id)
        if reserved is None or peer not in reserved:
            return
        if status == STORED:
            self._durable.settle(item_id, peer)
        else:
            self._offer_returned(self._give_back(self._state.items[item_id], peer, now_ms), now_ms)

    def timer_due(self, now_ms: int) -> None:
        """Do work that waits, and find what subscribers in contact are owed that was put off."""
        if self._handlers.waiting.due_ms <= now_ms:
            self._handlers.step(now_ms)
            if self._state.composition.news:
                self._offer_composites(now_ms)
        if self._delivery.deferred.find_ms <= now_ms:
            self._delivery.deferred.find_for_all(now_ms)

    def next_timer_ms(self) -> int:
        """Return when something is to be done or found."""
        return min(self._delivery.deferred.find_ms, self._handlers.waiting.due_ms)

    def expire_state(self, until_ms: int, now_ms: int) -> bool:
        """Forget subscriptions that have lingered enough."""
        return bool(self._state.expire_subscriptions(until_ms, now_ms))
