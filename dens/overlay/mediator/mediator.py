"""The role of a mediator: which messages it sends to which peers.

    SUBSCRIBE, RENEW   relay, install at publishers that can serve it
    UNSUBSCRIBE        relay, remove its filters
    ANNOUNCE           relay, install at that publisher what it can serve
    NOTIFICATION       relay as the policy decides, deliver to subscribers; also composites derived from it
    NOTIFY             deliver to the endpoints of this device
    RECEIPT            relay

State is in dens/overlay/mediator/state.py; dens/overlay/mediator/handlers.py changes it.
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
"""Priority of deliveries, to the endpoint itself or to its host."""
_EVENTS: Final = frozenset({NOTIFICATION, NOTIFY})


class Mediator(MediatingRole):
    """Handles, relays, installs and delivers messages."""

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

    # ------------------------------------------------------------------ engine

    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Restore the held messages; a mediator has no inbox."""
        self._handlers.restore(held, now_ms)
        self._replication.restore(now_ms)

    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Hold a message that could not be handled, to relay it."""
        return self._state.hold_for_relay(item, now_ms)

    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget an expired message."""
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
        """Return the summary note of the replication policy."""
        return self._replication.note(session, now_ms)

    def hosts_for(self, session: PeerSession) -> tuple[int, ...]:
        """Return the endpoints of this device, for mediators that need them."""
        return self._replication.hosts_for(session)

    # ------------------------------------------------------------------ receiving

    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        """Verify and handle a message."""
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

    # ------------------------------------------------------------------ sending

    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Queue what a peer lacks, according to its role."""
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
        """Note the composites that a mediator lacks although its complete summary names all parts: it derived
        them itself.
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
        missing.sort()  # By identity among equals.
        if self._state.covering.is_on:  # Covers serve the most subscriptions, so they go first.
            missing.sort(key=lambda one: self._installation.rank(held[one[1]], now_ms))
        for _, id in missing:
            self._offer(held[id], session, now_ms)

    def _settle_reservations(self, session: PeerSession, known: Summary, first: int, now_ms: int) -> None:
        """Settle unacknowledged copies by a mediator's summary of these origins. It has what it names. It
        never got what it lacks if the copy was sent to an earlier session, for which no tag verifies any
        more. For copies in transit in this session the acknowledgement decides.
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
        """Take back a copy that a peer did not accept; return the held message."""
        code = self._replication.give_back(held, peer, now_ms)
        if code != held.copies:
            held = held.replace(copies=code)
            self._state.replace_copies(held)
        return held

    def _offer_returned(self, item: Item, now_ms: int) -> None:
        """Offer a returned copy to the mediators in contact."""
        for session in self._sessions.values():
            if session.is_ready and session.role is MEDIATOR:
                self._offer_earlier(item, session, now_ms)

    def _offer_earlier(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Queue a notification that may have been here when the mediator's summary came. Then the summary
        decides whether the mediator lacks it; a counted copy for one that has it would be wasted.
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
        """Return the status of a counted copy of a known message. *Known* means that it came from another
        peer, so the copy remains with the sender; if that is not certain, the copy counts as stored.
        """
        carried = self._state.carried.get(item.id)
        if carried is None or carried.giver is None:
            return STORED
        return STORED if carried.giver == session.peer and carried.item.type == NOTIFICATION else KNOWN

    def _offer(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Queue a message for a mediator that lacks it; a NOTIFY is never relayed. Origins that the received
        parts of its summary do not cover wait for further parts.
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
        """Offer new messages to peers in contact, except to the sender. Messages that could not be handled
        are relayed at the next contact.
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
                    self._deliver(carried, subscriber, now_ms)
        self._delivery.deferred.find_by(now_ms)

    def _offer_composites(self, now_ms: int) -> None:
        """Offer composites that are new, or that no other mediator can derive any more."""
        news = self._state.composition.news
        made = [one for item_id in news if (one := self._state.carried.get(item_id)) is not None]
        news.clear()
        for carried in made:
            for session in self._sessions.values():
                if session.is_ready and session.role is MEDIATOR:
                    self._offer(carried.item, session, now_ms)
            for subscriber in list(carried.pending):
                self._deliver(carried, subscriber, now_ms)

    def _deliver(self, carried: Carried, subscriber: int, now_ms: int) -> None:
        if self._delivery.offer(carried, subscriber):
            self._state.release_if_done(carried.item.id, now_ms)

    def _notify(self, carried: Carried, subscriber: int, now_ms: int) -> None:
        self._deliver(carried, subscriber, now_ms)
        asks = self._replication.asks_who_is_owed
        for session in self._sessions.values():
            if (asks or subscriber in session.hosts) and session.is_ready and session.role is MEDIATOR:
                self._offer_earlier(carried.item, session, now_ms)

    def held(self, item_id: ItemId) -> Item | None:
        """Return a held message or part."""
        return self._state.items.get(item_id) or self._state.parts.get(item_id)

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message in the form that its receiver needs."""
        return self._renderer.frame(item, type, session, now_ms)

    def on_acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Take the status of a message: deliveries, counted copies, installs."""
        if item.type == NOTIFY:
            if session.role is MEDIATOR:
                return  # The receipts of its endpoints decide.
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
        """Settle a copy that a peer stored; offer one that it did not accept to other mediators."""
        reserved = self._durable.reservations.by_item.get(item_id)
        if reserved is None or peer not in reserved:
            return
        if status == STORED:
            self._durable.settle(item_id, peer)
        else:
            self._offer_returned(self._give_back(self._state.items[item_id], peer, now_ms), now_ms)

    def timer_due(self, now_ms: int) -> None:
        """Do deferred work, and recompute deferred deliveries of subscribers in contact."""
        if self._handlers.waiting.due_ms <= now_ms:
            self._handlers.step(now_ms)
            if self._state.composition.news:
                self._offer_composites(now_ms)
        if self._delivery.deferred.find_ms <= now_ms:
            self._delivery.deferred.find_for_all(now_ms)

    def next_timer_ms(self) -> int:
        """Return when deferred work or deliveries are due."""
        return min(self._delivery.deferred.find_ms, self._handlers.waiting.due_ms)

    def expire_state(self, until_ms: int, now_ms: int) -> bool:
        """Remove subscriptions whose linger time is over."""
        return bool(self._state.expire_subscriptions(until_ms, now_ms))
