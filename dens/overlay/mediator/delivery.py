"""What a mediator does for the subscribers that it meets: it tells them what they are owed, and learns what
they have.
"""

from dens.overlay.mediator.deferred import Deferred
from dens.overlay.mediator.pending import Found
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.notification_store import Carried
from dens.overlay.wire.codes import HAS_IT, NOTIFY, SUBSCRIBER, SUPERSEDED
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Notify


class Notifying:
    """Notifies subscribers in contact. `found` is told who turns out to be owed something later."""

    __slots__ = ("_sessions", "_state", "deferred")

    def __init__(self, context: NodeContext, state: MediatorState, found: Found) -> None:
        self._sessions = context.sessions
        self._state = state
        self.deferred = Deferred(context, state, found)

    def met(self, session: PeerSession, now_ms: int) -> None:
        """Queue what a subscriber is owed and does not have."""
        carried = self._state.carried
        if carried.is_deferred(session.peer):
            self.deferred.find(session, now_ms)
        for item_id in carried.pending_for(session.peer):
            if session.knows(item_id):
                carried.delivered(item_id, session.peer)
            else:
                session.offer(0, item_id, NOTIFY)
        self.deferred.find_by(now_ms)

    def tell(self, carried: Carried, subscriber: int) -> bool:
        """Queue a pending notification for a subscriber in contact. Return whether the subscriber's summary
        names it: then it is not pending any more.
        """
        session = self._sessions.get(subscriber)
        if session is None or not session.is_ready or session.role is not SUBSCRIBER:
            return False
        item = carried.item
        if session.named(item.id):
            return self._state.carried.delivered(item.id, subscriber)
        session.mark_lacking(item.id)
        session.offer(0, item.id, NOTIFY, item.size)
        return False

    def acknowledged(self, item: Item, status: int, session: PeerSession) -> bool:
        """Learn how a subscriber took what it was owed; return whether it is owed less now."""
        if status in HAS_IT:
            self._state.carried.delivered(item.id, session.peer)
        elif status == SUPERSEDED:
            self._owe_other_revisions_only(item, session)
        else:
            return False
        return True

    def _owe_other_revisions_only(self, refused: Item, session: PeerSession) -> None:
        """Owe a subscriber no more for what it no longer wants; a newer revision may have come meanwhile."""
        carried = self._state.carried
        carried.drop_refused(refused.id, session.peer, Notify.decode(refused.payload).satisfied)
        if session.peer in carried.pending_subscribers(refused.id):
            session.mark_lacking(refused.id)
            session.offer(0, refused.id, NOTIFY)
