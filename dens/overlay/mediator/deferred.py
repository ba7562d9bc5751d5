"""When a mediator looks again for what subscribers are owed that it had no room to keep.

What is owed is bounded (dens/overlay/storage/notification_store.py). Of whom it was too much is deferred:
what such a subscriber is owed is found when it is met, and the next of it when that is across.
"""

from dens.overlay.mediator.pending import Found
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.codes import SUBSCRIBER
from dens.overlay.wire.item import NEVER_MS


class Deferred:
    """Looks again, not too often."""

    __slots__ = ("_rate_limit", "_session_ms", "_sessions", "_state", "_tell", "find_ms")

    def __init__(self, context: NodeContext, state: MediatorState, tell: Found) -> None:
        self._rate_limit = context.rate_limit
        self._session_ms = context.limits.session_ms
        self._sessions = context.sessions
        self._state = state
        self._tell = tell
        self.find_ms = NEVER_MS
        """When to look again, at the latest."""

    def find_for_all(self, now_ms: int) -> None:
        """Look again for every subscriber in contact."""
        self.find_ms = NEVER_MS
        for session in self._sessions.values():
            if session.is_ready and session.role is SUBSCRIBER:
                self.find_more(session, now_ms)

    def find(self, session: PeerSession, now_ms: int) -> None:
        """Find now what this subscriber is owed, as far as there is room."""
        self._state.owing.find_owed(session.peer, session.knows, self._tell, now_ms)

    def find_more(self, session: PeerSession, now_ms: int) -> None:
        """Find what else a subscriber in contact is owed when all that was kept is across; later, if that was
        done too often, or something is under way still.
        """
        peer = session.peer
        if self._state.carried.is_deferred(peer):
            if not self._state.carried.pending_for(peer) and self._rate_limit.admits(peer, now_ms):
                self.find(session, now_ms)
            self.find_by(now_ms + self._session_ms)

    def find_by(self, at_ms: int) -> None:
        """Look again then at the latest, if there is anybody for whom not everything is kept."""
        if at_ms < self.find_ms and self._state.carried.has_deferred:
            self.find_ms = at_ms
