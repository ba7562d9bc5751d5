"""When a mediator recomputes pending deliveries that exceeded the limit.

The number of pending deliveries is bounded (dens/overlay/storage/notification_store.py). Those of a
subscriber beyond it are deferred: they are recomputed when the subscriber is met, and again when these are
delivered.
"""

from dens.overlay.mediator.pending import OnPending
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.codes import SUBSCRIBER
from dens.overlay.wire.item import NEVER_MS


class DeferredDeliveries:
    """Recomputes deferred deliveries, at a limited rate."""

    __slots__ = ("_on_pending", "_rate_limit", "_session_ms", "_sessions", "_state", "find_ms")

    def __init__(self, context: NodeContext, state: MediatorState, on_pending: OnPending) -> None:
        self._rate_limit = context.rate_limit
        self._session_ms = context.limits.session_ms
        self._sessions = context.sessions
        self._state = state
        self._on_pending = on_pending
        self.find_ms = NEVER_MS
        """When to recompute, at the latest."""

    def find_for_all(self, now_ms: int) -> None:
        """Recompute for every subscriber in contact."""
        self.find_ms = NEVER_MS
        for session in self._sessions.values():
            if session.is_ready and session.role is SUBSCRIBER:
                self.find_more(session, now_ms)

    def find(self, session: PeerSession, now_ms: int) -> None:
        """Recompute the pending deliveries of a subscriber, up to the limit."""
        self._state.pending.find_pending(session.peer, session.knows, self._on_pending, now_ms)

    def find_more(self, session: PeerSession, now_ms: int) -> None:
        """Recompute for a subscriber in contact when all its pending deliveries are acknowledged; later if
        some are in transit or the rate limit is reached.
        """
        peer = session.peer
        if self._state.carried.is_deferred(peer):
            if not self._state.carried.pending_for(peer) and self._rate_limit.admits(peer, now_ms):
                self.find(session, now_ms)
            self.find_by(now_ms + self._session_ms)

    def find_by(self, at_ms: int) -> None:
        """Recompute then at the latest, if any subscriber has deferred deliveries."""
        if at_ms < self.find_ms and self._state.carried.has_deferred:
            self.find_ms = at_ms
