"""Installs subscriptions at publishers that can serve them, and removes them.

A publisher that rejects a subscription is offered its parts (dens/overlay/covering/decomposition.py). At a
publisher that grants leases, installs of covered subscriptions are suppressed
(dens/overlay/covering/suppression.py).
"""

from typing import Final

from dens.interfaces import SubscriptionKey
from dens.overlay.covering.leases import CUT, RELIABLE
from dens.overlay.covering.suppression import InstallSuppression
from dens.overlay.events import InstallSpared
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.codes import (
    ANNOUNCE,
    ASKING,
    HAS_IT,
    INSTALL,
    NO_ROOM,
    PUBLISHER,
    REMOVE,
    SUBSCRIBE,
    UNKNOWN_LANGUAGE,
    UNSUBSCRIBE,
    MessageType,
)
from dens.overlay.wire.item import Item, ItemId
from watchdog.header import HEADER_ID

REFUSES_WHOLE: Final = frozenset({UNKNOWN_LANGUAGE, NO_ROOM})
"""After these statuses a publisher may accept the parts of a subscription."""


def install_of(item: Item) -> Item:
    """Return the INSTALL of a subscription or of a part."""
    payload = item.payload[4:] if item.type == MessageType.RENEW else item.payload
    return item.replace(type=INSTALL, payload=payload, signature=b"")


class Installation:
    """Offers installs and removals to publishers in contact."""

    __slots__ = ("_context", "_reported", "_sessions", "_state", "_suppressions")

    def __init__(self, context: NodeContext, state: MediatorState) -> None:
        self._context = context
        self._sessions = context.sessions
        self._state = state
        self._suppressions: dict[int, InstallSuppression] = {}
        """By publisher in contact that grants leases."""
        self._reported: dict[int, set[ItemId]] = {}
        """By publisher: the suppressed installs that were reported."""

    def offer_all(self, session: PeerSession, note: bytes, now_ms: int) -> None:
        """Offer all installs and removals to a publisher that was just met."""
        self._suppressions.pop(session.peer, None)
        if self._state.covering.is_on and note == RELIABLE:
            self._begin_suppression(session)
            self._offer_installs(session, now_ms)
            self._offer_removals(session)
        else:
            self._offer_removals(session, is_cut=note == CUT)
            self._offer_installs(session, now_ms)

    def offer_stored(self, item: Item, now_ms: int) -> None:
        """Offer installs that follow from a stored message to publishers in contact: of a new subscription,
        of everything that a new publisher can serve, and of what a withdrawn or older revision covered.
        """
        type = item.type
        if type in ASKING:
            key = (item.origin, item.payload[0 if type == SUBSCRIBE else 4])
            for publisher in self._state.services.publishers_of(key):
                session = self._sessions.get(publisher)
                if session is not None and session.is_ready and session.role is PUBLISHER:
                    self._offer_install(key, item, session, now_ms)
            self._look_again(key, now_ms)
        elif type == UNSUBSCRIBE:
            self._look_again((item.origin, item.payload[HEADER_ID]), now_ms)
        elif type == ANNOUNCE:
            session = self._sessions.get(item.origin)
            if session is not None and session.is_ready:
                self._offer_installs(session, now_ms)

    def _offer_removals(self, session: PeerSession, *, is_cut: bool = False) -> None:
        """Offer the withdrawals of all subscribers that a publisher's summary names; of all subscribers if
        the summary is cut.
        """
        for tombstone in self._state.table.tombstones():
            if is_cut or session.named_any_of(tombstone.item.origin):
                self.offer_removal(tombstone.item, session)

    def offer_removal(self, tombstone: Item, session: PeerSession) -> None:
        """Offer the removal of a withdrawn subscription and of its parts."""
        removals = [tombstone.id, *(part.id for part in self._state.parts.of(tombstone.id))]
        suppression = self._suppression_at(session)
        if suppression is None:
            for removal in removals:
                session.offer(0, removal, REMOVE)
        else:
            for removal in removals:
                suppression.queue_removal(removal)
            suppression.send_removals()

    def _offer_installs(self, session: PeerSession, now_ms: int) -> None:
        self._offer_held(self._state.services.served_by(session.peer), session, now_ms)

    def _offer_held(self, keys: tuple[SubscriptionKey, ...], session: PeerSession, now_ms: int) -> None:
        held = [one for key in keys if (one := self._state.table.get(key)) is not None]
        suppression = self._suppression_at(session)
        if suppression is not None and len(held) > 1:
            held = suppression.order(held, now_ms)
        for subscription in held:
            self._offer_install(subscription.key, subscription.item, session, now_ms)

    def _offer_install(self, key: SubscriptionKey, item: Item, session: PeerSession, now_ms: int) -> None:
        """Offer the install of a subscription, or of its parts if the publisher has some of them or rejected
        the whole. Languages that it does not know are not offered again; covered subscriptions are
        suppressed.
        """
        parts, book, peer = self._state.parts.of(item.id), self._state.parts, session.peer
        if parts and (
            book.is_refused(peer, key, item.language) or any(session.knows(part.id) for part in parts)
        ):
            for part in parts:
                if book.knows_language(peer, part.language):
                    session.offer(1, part.id, INSTALL)
        elif book.knows_language(peer, item.language):
            suppression = self._suppression_at(session)
            wanted = None if suppression is None else self._state.table.get(key)
            if suppression is None or wanted is None or wanted.item is not item:
                session.offer(1, item.id, INSTALL)
            elif suppression.suppresses(wanted, now_ms):
                if key in suppression.suppressed:
                    self._report_suppressed(item, peer, now_ms)
            elif session.lacks(item.id):
                session.offer(1, item.id, INSTALL)
                suppression.note_requested(wanted)

    def refused(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Note that a publisher rejected a subscription or a part."""
        if self._state.services.announcement(session.peer) is None:
            return  # Nothing is remembered of a publisher that is not known.
        if status == UNKNOWN_LANGUAGE:
            self._state.parts.note_unknown_language(session.peer, item.language)
        subscription = self._state.table.get((item.origin, item.payload[HEADER_ID]))
        if subscription is not None and subscription.item.id == item.id:
            if status == NO_ROOM and self._state.parts.of(item.id):
                self._state.parts.note_no_room(session.peer, subscription.key)
            self._offer_install(subscription.key, subscription.item, session, now_ms)

    # ------------------------------------------------------------------ covering

    def rank(self, item: Item, now_ms: int) -> int:
        """Return how many bodies cover that of a subscription; 0 for other messages."""
        if item.type not in ASKING:
            return 0
        key = (item.origin, item.payload[0 if item.type == SUBSCRIBE else 4])
        held = self._state.table.get(key)
        return 0 if held is None else self._state.covering.depth(held, now_ms)

    def answered(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Take the status of an INSTALL, and offer the installs that waited for it."""
        suppression = self._suppression_at(session)
        if suppression is None:
            return
        held = self._state.table.get((item.origin, item.payload[HEADER_ID]))
        is_this = held is not None and held.item.id == item.id
        waited = suppression.answered(item.id, held if is_this else None, status in HAS_IT)
        self._offer_held(tuple(waited), session, now_ms)
        suppression.send_removals()

    def _look_again(self, key: SubscriptionKey, now_ms: int) -> None:
        """Offer what a changed subscription covered to publishers in contact."""
        for suppression in self._suppressions.values():
            if self._suppression_at(suppression.session) is suppression:
                self._offer_held(tuple(suppression.changed(key)), suppression.session, now_ms)

    def _suppression_at(self, session: PeerSession) -> InstallSuppression | None:
        suppression = self._suppressions.get(session.peer)
        return suppression if suppression is not None and suppression.session is session else None

    def _begin_suppression(self, session: PeerSession) -> None:
        services, items = self._state.services, self._state.items
        for peer in [one for one in self._suppressions if one not in self._sessions]:
            del self._suppressions[peer]
        for peer in [one for one in self._reported if services.announcement(one) is None]:
            del self._reported[peer]
        told = self._reported.get(session.peer, set())
        self._reported[session.peer] = {item_id for item_id in told if item_id in items}
        suppression = self._suppressions[session.peer] = InstallSuppression(
            self._context,
            session,
            self._state.items,
            self._state.table,
            self._state.parts,
            self._state.covering,
        )
        suppression.load_installed()

    def _report_suppressed(self, item: Item, peer: int, now_ms: int) -> None:
        told = self._reported.setdefault(peer, set())
        if item.id not in told:
            told.add(item.id)
            self._context.events.append(InstallSpared(now_ms, install_of(item), peer))
