"""What mediators and brokers have in common: their summaries, and the offers of publishers they know."""

from abc import abstractmethod

from dens.overlay.events import HeardOffer
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.role import NodeRole
from dens.overlay.wire.codes import MEDIATOR
from dens.overlay.wire.messages import SummaryMessage
from dens.overlay.wire.summary import Summary


class MediatingRole(NodeRole):
    """A role with the state of a mediator. Its peers of the same role get all of its summary, in parts; an
    endpoint gets only what concerns its own messages.
    """

    __slots__ = ("_context", "_durable", "_sessions", "_state")

    role = MEDIATOR
    commits_at_once = False

    def __init__(self, context: NodeContext, state: MediatorState) -> None:
        self._context = context
        self._durable = context.durable
        self._sessions = context.sessions
        self._state = state

    def read_summary(self, message: SummaryMessage) -> Summary:
        """Return a peer's summary, or raise RemoteProtocolError."""
        if message.hello.role == MEDIATOR:
            return self._read_mediator_summary(message)
        return super().read_summary(message)

    @abstractmethod
    def _read_mediator_summary(self, message: SummaryMessage) -> Summary:
        """Return the summary of another mediator."""

    def summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        """Return which messages of an endpoint are known."""
        return self._durable.known.encode_only(session.peer, most_bytes)

    def summary_part(
        self, session: PeerSession, first: int, last: int | None, most_bytes: int
    ) -> tuple[bytes, int]:
        """Return one part of the summary, and its last origin."""
        if session.role is MEDIATOR:
            return self._durable.known.encode_part(first, last, most_bytes)
        return super().summary_part(session, first, last, most_bytes)

    def offers_for(self, question: bytes) -> list[HeardOffer]:
        """Return the announcements that a question is about, and whether their publishers are in contact."""
        return self._state.services.offered(question, self._sessions)

    def next_expiry_ms(self) -> int:
        """Return when a subscription has lingered long enough."""
        return self._state.table.wake_ms
