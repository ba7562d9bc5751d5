"""Delivers pending notifications to subscribers in contact, and notes what they have."""

from dens.overlay.mediator.deferred import DeferredDeliveries
from dens.overlay.mediator.pending import OnPending
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.notification_store import Carried
from dens.overlay.wire.codes import HAS_IT, NOTIFY, SUBSCRIBER, SUPERSEDED
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Notify


class Delivery:
    """Offers pending notifications. `on_pending` is called for deliveries that are found pending later."""

    __slots__ = ("_sessions", "_state", "deferred")

    def __init__(self, context: NodeContext, state: MediatorState, on_pending: OnPending) -> None:
        self._sessions = context.sessions
        self._state = state
        self.deferred = DeferredDeliveries(context, state, on_pending)

    def met(self, session: PeerSession, now_ms: int) -> None:
        """Queue what is pending for a subscriber that does not have it."""
        carried = self._state.carried
        if carried.is_deferred(session.peer):
            self.deferred.find(session, now_ms)
        for item_id in carried.pending_for(session.peer):
            if session.knows(item_id):
                carried.delivered(item_id, session.peer)
            else:
                session.offer(0, item_id, NOTIFY)
        self.deferred.find_by(now_ms)

    def offer(self, carried: Carried, subscriber: int) -> bool:
        """Queue a pending notification for a subscriber in contact. Return whether the subscriber's summary
        names it: then it is no longer pending.
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
        """Take the status of a NOTIFY; return whether less is pending now."""
        if status in HAS_IT:
            self._state.carried.delivered(item.id, session.peer)
        elif status == SUPERSEDED:
            self._drop_rejected(item, session)
        else:
            return False
        return True

    def _drop_rejected(self, refused: Item, session: PeerSession) -> None:
        """Drop the rejected revisions; a newer one that came meanwhile may still match."""
        carried = self._state.carried
        carried.drop_refused(refused.id, session.peer, Notify.decode(refused.payload).satisfied)
        if session.peer in carried.pending_subscribers(refused.id):
            session.mark_lacking(refused.id)
            session.offer(0, refused.id, NOTIFY)
