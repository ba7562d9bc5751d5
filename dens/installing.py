"""What a mediator asks of publishers: to filter for subscriptions that they can serve, and to stop.

A publisher that does not take a subscription as it is, is offered its parts (dens/parts.py).
"""

from typing import Final

from dens.context import NodeContext
from dens.interfaces import SubscriptionKey
from dens.item import Item
from dens.mediator_state import MediatorState
from dens.numbers import (
    ANNOUNCE,
    INSTALL,
    NO_ROOM,
    PUBLISHER,
    REMOVE,
    SUBSCRIBE,
    UNKNOWN_LANGUAGE,
    MessageType,
)
from dens.peer_session import PeerSession
from watchdog.header import HEADER_ID

ASKING: Final = frozenset({int(MessageType.SUBSCRIBE), int(MessageType.RENEW)})
"""What a publisher is offered as an install."""
REFUSES_WHOLE: Final = frozenset({UNKNOWN_LANGUAGE, NO_ROOM})
"""After these answers a publisher may take the parts of a subscription."""


class Installing:
    """Offers installs and removals to publishers in contact."""

    __slots__ = ("_sessions", "_state")

    def __init__(self, context: NodeContext, state: MediatorState) -> None:
        self._sessions = context.sessions
        self._state = state

    def offer_all(self, session: PeerSession) -> None:
        """Offer a publisher that was just met everything that concerns it."""
        self._offer_removals(session)
        self._offer_installs(session)

    def offer_learnt(self, item: Item) -> None:
        """Ask publishers in contact to look for a subscription that was learnt, or for everything that one
        can serve which has announced itself.
        """
        type = item.type
        if type in ASKING:
            key = (item.origin, item.payload[0 if type == SUBSCRIBE else 4])
            for publisher in self._state.services.publishers_of(key):
                session = self._sessions.get(publisher)
                if session is not None and session.is_ready and session.role is PUBLISHER:
                    self._offer_install(key, item, session)
        elif type == ANNOUNCE:
            session = self._sessions.get(item.origin)
            if session is not None and session.is_ready:
                self._offer_installs(session)

    def _offer_removals(self, session: PeerSession) -> None:
        for tombstone in self._state.table.tombstones():
            if session.has_any_of(tombstone.item.origin):
                self.offer_removal(tombstone.item, session)

    def offer_removal(self, tombstone: Item, session: PeerSession) -> None:
        """Tell a publisher that a subscription was withdrawn, and its parts with it."""
        session.offer(0, tombstone.id, REMOVE)
        for part in self._state.parts.of(tombstone.id):
            session.offer(0, part.id, REMOVE)

    def _offer_installs(self, session: PeerSession) -> None:
        for key in self._state.services.served_by(session.peer):
            subscription = self._state.table.get(key)
            if subscription is not None:
                self._offer_install(key, subscription.item, session)

    def _offer_install(self, key: SubscriptionKey, item: Item, session: PeerSession) -> None:
        """Ask a publisher to look for a subscription; for its parts, if it has some of them or would not take
        it whole. What it has shown it does not know is offered no more.
        """
        parts, book, peer = self._state.parts.of(item.id), self._state.parts, session.peer
        if parts and (
            book.is_refused(peer, key, item.language) or any(session.knows(part.id) for part in parts)
        ):
            for part in parts:
                if book.knows_language(peer, part.language):
                    session.offer(1, part.id, INSTALL)
        elif book.knows_language(peer, item.language):
            session.offer(1, item.id, INSTALL)

    def refused(self, item: Item, status: int, session: PeerSession) -> None:
        """Learn that a publisher does not take a subscription, or a part of one, as it is."""
        if self._state.services.announcement(session.peer) is None:
            return  # Nothing is remembered of a publisher that is not known.
        if status == UNKNOWN_LANGUAGE:
            self._state.parts.does_not_know(session.peer, item.language)
        subscription = self._state.table.get((item.origin, item.payload[HEADER_ID]))
        if subscription is not None and subscription.item.id == item.id:
            if status == NO_ROOM and self._state.parts.of(item.id):
                self._state.parts.has_no_room(session.peer, subscription.key)
            self._offer_install(subscription.key, subscription.item, session)
