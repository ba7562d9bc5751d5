"""Interface between an engine and the role of its node: subscriber, mediator, broker or publisher.

An engine (dens/overlay/session/engine.py) handles contacts, sessions and acknowledgements; a transmitter
(dens/overlay/session/transmitter.py) queues, windows and datagrams. Only the role interprets messages.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.events import HeardOffer, OffersHeard
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire import summary
from dens.overlay.wire.codes import KNOWN, LAST_NODE, Role, Status
from dens.overlay.wire.item import NEVER_MS, Item, ItemId
from dens.overlay.wire.messages import SummaryMessage
from dens.overlay.wire.summary import Summary


class NodeRole(ABC):
    """The role of a node: callbacks and queries of its engine."""

    __slots__ = ()

    role: ClassVar[Role]
    commits_at_once: ClassVar[bool] = True
    """Whether calls of the application are committed even if nothing is sent. A mediator has no application
    and waits for its next acknowledgements, so that one commit serves a batch.
    """

    # ------------------------------------------------------------------ called by the engine

    @abstractmethod
    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Load what was committed before a restart, including expired messages: these end with
        the next call.
        """

    @abstractmethod
    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Queue what the peer lacks; `known` is its summary."""

    def on_summary_part(  # noqa: B027 only mediators send parts
        self, session: PeerSession, known: Summary, first: int, now_ms: int
    ) -> None:
        """Queue what the peer lacks of the origins from `first` to `session.covered`, the next part of its
        summary.
        """

    @abstractmethod
    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status | None:
        """Process a message that is new, unexpired and permitted for this peer; return its status, or None if
        that failed.
        """

    def on_stored(  # noqa: B027 endpoints do nothing
        self, items: Sequence[Item], session: PeerSession, now_ms: int
    ) -> None:
        """Forward messages that were just stored; they came together, from this peer."""

    @abstractmethod
    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Return the status of a message whose processing failed."""

    @abstractmethod
    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Remove an expired message; return whether its id is to be remembered for longer."""

    def on_acknowledged(  # noqa: B027 most do nothing
        self, item: Item, status: int, session: PeerSession, now_ms: int
    ) -> None:
        """Process the acknowledgement of a message; `item` is what was sent. Most endpoints ignore it: the
        next summary of a mediator shows what it has.
        """

    def duplicate_status(self, item: Item, session: PeerSession) -> Status:
        """Return the status for a counted copy of a known message."""
        return KNOWN

    def read_summary(self, message: SummaryMessage) -> Summary:
        """Decode the summary of a peer, or raise RemoteProtocolError."""
        if message.last != LAST_NODE or message.first:
            raise RemoteProtocolError("only mediators send a summary in parts")
        return summary.decode(message.known)

    def next_expiry_ms(self) -> int:
        """Return when state other than a message expires, or may expire."""
        return NEVER_MS

    def expire_state(self, until_ms: int, now_ms: int) -> bool:
        """Expire state other than messages until then; return whether there was any. Events have the time
        `now_ms`.
        """
        return False

    def next_timer_ms(self) -> int:
        """Return when `timer_due` is needed, independent of other calls."""
        return NEVER_MS

    def timer_due(self, now_ms: int) -> None:  # noqa: B027 most have no timers
        """Process what is due at `next_timer_ms`."""

    # ------------------------------------------------------------------ called by look-ups
    # (dens/overlay/session/lookup.py)

    def offers_for(self, question: bytes) -> list[HeardOffer]:
        """Return the announcements that answer a question; endpoints answer none. An invalid question raises
        `VectorError`.
        """
        return []

    def lookup_due_ms(self) -> int:
        """Return when this node needs a look-up."""
        return NEVER_MS

    def next_question(self, now_ms: int) -> tuple[bytes, int, int] | None:
        """Return the question, the maximal number of mediators and the timeout of the look-up that is due, or
        None; either way it is no longer due.
        """
        return None

    def on_lookup_started(self, number: int) -> None:  # noqa: B027 most do nothing
        """Note the number of the look-up for `next_question`."""

    def on_lookup_done(self, heard: OffersHeard, now_ms: int) -> None:  # noqa: B027 most do nothing
        """Process the result of a look-up of this node."""

    # ------------------------------------------------------------------ called by the transmitter

    @abstractmethod
    def summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        """Return the summary for this peer."""

    def summary_part(
        self, session: PeerSession, first: int, last: int | None, most_bytes: int
    ) -> tuple[bytes, int]:
        """Return the summary for this peer of the origins from `first` to `last`, and the last one (None: as
        many as fit). That of an endpoint has one part.
        """
        return self.summary_for(session, most_bytes), LAST_NODE

    @abstractmethod
    def held(self, item_id: ItemId) -> Item | None:
        """Return a held message that may be sent, or None."""

    def relays_as_held(self) -> bool:
        """Return whether notifications always leave as they are held, so that `frame` is not needed."""
        return False

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a held message in the form for this peer, or None if it need not be sent any more."""
        return item

    def reserves_copies(self) -> bool:
        """Return whether `on_transmit` has to be called for notifications."""
        return False

    def on_transmit(  # noqa: B027 most do not count copies
        self, item: Item, session: PeerSession, now_ms: int
    ) -> None:
        """Reserve a copy for a peer: this notification is being sent to it in this form."""

    def summary_note(self, session: PeerSession, now_ms: int) -> bytes:
        """Return the note of the replication policy; endpoints have none."""
        return b""

    def hosts_for(self, session: PeerSession) -> tuple[int, ...]:
        """Return the hosted endpoints that this peer learns of; endpoints host none."""
        return ()
