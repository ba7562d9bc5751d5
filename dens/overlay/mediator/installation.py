"""What a mediator asks of publishers: to filter for subscriptions that they can serve, and to stop.

A publisher that does not take a subscription as it is, is offered its parts
(dens/overlay/covering/decomposition.py). One that can be relied on is not asked for what it looks for
already under another subscription (dens/overlay/covering/suppression.py).
"""

from typing import Final

from dens.interfaces import SubscriptionKey
from dens.overlay.covering.leases import CUT, RELIABLE
from dens.overlay.covering.suppression import Sparing
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

"""What a publisher is offered as an install."""
REFUSES_WHOLE: Final = frozenset({UNKNOWN_LANGUAGE, NO_ROOM})
"""After these answers a publisher may take the parts of a subscription."""


def install_of(item: Item) -> Item:
    """Return a subscription, or a part of one, as a publisher is sent it."""
    payload = item.payload[4:] if item.type == MessageType.RENEW else item.payload
    return item.replace(type=INSTALL, payload=payload, signature=b"")


class Installing:
    """Offers installs and removals to publishers in contact."""

    __slots__ = ("_context", "_sessions", "_sparing", "_state", "_told")

    def __init__(self, context: NodeContext, state: MediatorState) -> None:
        self._context = context
        self._sessions = context.sessions
        self._state = state
        self._sparing: dict[int, Sparing] = {}
        """For each publisher in contact that can be relied on."""
        self._told: dict[int, set[ItemId]] = {}
        """For each of them what it was told to have been spared."""

    def offer_all(self, session: PeerSession, note: bytes, now_ms: int) -> None:
        """Offer a publisher that was just met everything that concerns it."""
        self._sparing.pop(session.peer, None)
        if self._state.covering.is_on and note == RELIABLE:
            self._begin_sparing(session)
            self._offer_installs(session, now_ms)
            self._offer_removals(session)
        else:
            self._offer_removals(session, is_cut=note == CUT)
            self._offer_installs(session, now_ms)

    def offer_learnt(self, item: Item, now_ms: int) -> None:
        """Ask publishers in contact to look for a subscription that was learnt, or for everything that one
        can serve which has announced itself; and for what a withdrawn or older revision stood for.
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
        """Offer the withdrawals of all subscribers of whom a publisher knows something. Where its summary is
        cut, that may be any.
        """
        for tombstone in self._state.table.tombstones():
            if is_cut or session.named_any_of(tombstone.item.origin):
                self.offer_removal(tombstone.item, session)

    def offer_removal(self, tombstone: Item, session: PeerSession) -> None:
        """Tell a publisher that a subscription was withdrawn, and its parts with it."""
        removals = [tombstone.id, *(part.id for part in self._state.parts.of(tombstone.id))]
        sparing = self._sparing_at(session)
        if sparing is None:
            for removal in removals:
                session.offer(0, removal, REMOVE)
        else:
            for removal in removals:
                sparing.put_off(removal)
            sparing.tell_removals()

    def _offer_installs(self, session: PeerSession, now_ms: int) -> None:
        self._offer_held(self._state.services.served_by(session.peer), session, now_ms)

    def _offer_held(self, keys: tuple[SubscriptionKey, ...], session: PeerSession, now_ms: int) -> None:
        held = [one for key in keys if (one := self._state.table.get(key)) is not None]
        sparing = self._sparing_at(session)
        if sparing is not None and len(held) > 1:
            held = sparing.order(held, now_ms)
        for subscription in held:
            self._offer_install(subscription.key, subscription.item, session, now_ms)

    def _offer_install(self, key: SubscriptionKey, item: Item, session: PeerSession, now_ms: int) -> None:
        """Ask a publisher to look for a subscription; for its parts, if it has some of them or would not take
        it whole. What it has shown it does not know is offered no more, and what something else stands for
        not at all.
        """
        parts, book, peer = self._state.parts.of(item.id), self._state.parts, session.peer
        if parts and (
            book.is_refused(peer, key, item.language) or any(session.knows(part.id) for part in parts)
        ):
            for part in parts:
                if book.knows_language(peer, part.language):
                    session.offer(1, part.id, INSTALL)
        elif book.knows_language(peer, item.language):
            sparing = self._sparing_at(session)
            wanted = None if sparing is None else self._state.table.get(key)
            if sparing is None or wanted is None or wanted.item is not item:
                session.offer(1, item.id, INSTALL)
            elif sparing.spares(wanted, now_ms):
                if key in sparing.spared:
                    self._tell_spared(item, peer, now_ms)
            elif session.lacks(item.id):
                session.offer(1, item.id, INSTALL)
                sparing.asked(wanted)

    def refused(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Learn that a publisher does not take a subscription, or a part of one, as it is."""
        if self._state.services.announcement(session.peer) is None:
            return  # Nothing is remembered of a publisher that is not known.
        if status == UNKNOWN_LANGUAGE:
            self._state.parts.does_not_know(session.peer, item.language)
        subscription = self._state.table.get((item.origin, item.payload[HEADER_ID]))
        if subscription is not None and subscription.item.id == item.id:
            if status == NO_ROOM and self._state.parts.of(item.id):
                self._state.parts.has_no_room(session.peer, subscription.key)
            self._offer_install(subscription.key, subscription.item, session, now_ms)

    # ------------------------------------------------------------------ covering

    def rank(self, item: Item, now_ms: int) -> int:
        """Return how many bodies stand above that of a subscription; other messages have none."""
        if item.type not in ASKING:
            return 0
        key = (item.origin, item.payload[0 if item.type == SUBSCRIBE else 4])
        held = self._state.table.get(key)
        return 0 if held is None else self._state.covering.depth(held, now_ms)

    def answered(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        """Learn whether a publisher looks for a subscription, and ask it for what waited for that."""
        sparing = self._sparing_at(session)
        if sparing is None:
            return
        held = self._state.table.get((item.origin, item.payload[HEADER_ID]))
        is_this = held is not None and held.item.id == item.id
        waited = sparing.answered(item.id, held if is_this else None, status in HAS_IT)
        self._offer_held(tuple(waited), session, now_ms)
        sparing.tell_removals()

    def _look_again(self, key: SubscriptionKey, now_ms: int) -> None:
        """Ask publishers in contact for what a subscription stood for that is no longer what it was."""
        for sparing in self._sparing.values():
            if self._sparing_at(sparing.session) is sparing:
                self._offer_held(tuple(sparing.changed(key)), sparing.session, now_ms)

    def _sparing_at(self, session: PeerSession) -> Sparing | None:
        sparing = self._sparing.get(session.peer)
        return sparing if sparing is not None and sparing.session is session else None

    def _begin_sparing(self, session: PeerSession) -> None:
        services, items = self._state.services, self._state.items
        for peer in [one for one in self._sparing if one not in self._sessions]:
            del self._sparing[peer]
        for peer in [one for one in self._told if services.announcement(one) is None]:
            del self._told[peer]
        told = self._told.get(session.peer, set())
        self._told[session.peer] = {item_id for item_id in told if item_id in items}
        sparing = self._sparing[session.peer] = Sparing(
            self._context,
            session,
            self._state.items,
            self._state.table,
            self._state.parts,
            self._state.covering,
        )
        sparing.find_standing()

    def _tell_spared(self, item: Item, peer: int, now_ms: int) -> None:
        told = self._told.setdefault(peer, set())
        if item.id not in told:
            told.add(item.id)
            self._context.events.append(InstallSpared(now_ms, install_of(item), peer))
