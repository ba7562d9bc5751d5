"""What messages mean to one kind of node: all that an engine and its transmitter ask of it.

An engine (dens/overlay/session/engine.py) knows contacts, sessions and acknowledgements; a transmitter
(dens/overlay/session/transmitter.py) knows queues, windows and datagrams. Neither knows what is said. A
subscriber, a mediator and a publisher do.
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
    """One kind of node, as its engine sees it."""

    __slots__ = ()

    role: ClassVar[Role]
    commits_at_once: ClassVar[bool] = True
    """Whether what an application asked is committed even if nothing is sent. A mediator has no application,
    and waits for its next acknowledgements, so that one commit serves a batch.
    """

    # ------------------------------------------------------------------ what an engine asks

    @abstractmethod
    def restore(self, held: list[Item], inbox: list[Item], now_ms: int) -> None:
        """Take up what was committed before a restart; expired messages too, which end with the next verb."""

    @abstractmethod
    def on_peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        """Queue what the peer lacks; `known` is what it has."""

    def on_summary_part(  # noqa: B027 only mediators speak in parts
        self, session: PeerSession, known: Summary, first: int, now_ms: int
    ) -> None:
        """Queue what the peer lacks of the origins that a further part of its summary is about: those from
        `first` to `session.covered`.
        """

    @abstractmethod
    def take(self, item: Item, session: PeerSession, now_ms: int) -> Status | None:
        """Take a message that is new, unexpired and the peer's to send; say how. None says that it cannot."""

    def on_stored(  # noqa: B027 nothing is what ends do
        self, items: Sequence[Item], session: PeerSession, now_ms: int
    ) -> None:
        """Tell others of what has just been stored; it came together, from this peer."""

    @abstractmethod
    def on_take_failed(self, item: Item, now_ms: int) -> Status:
        """Say what becomes of a message that could not be taken."""

    @abstractmethod
    def on_expired(self, item_id: ItemId, now_ms: int) -> bool:
        """Forget a message whose lifetime is over; return whether it is to be remembered for longer."""

    def on_acknowledged(  # noqa: B027 nothing is what most do
        self, item: Item, status: int, session: PeerSession, now_ms: int
    ) -> None:
        """Learn how a peer took a message; `item` is what was sent. To an end nothing changes: what a
        mediator has, its next summary says.
        """

    def duplicate_status(self, item: Item, session: PeerSession) -> Status:
        """Return the answer to a counted copy of a message that is known here."""
        return KNOWN

    def read_summary(self, message: SummaryMessage) -> Summary:
        """Return what a peer's summary says, or raise RemoteProtocolError."""
        if message.last != LAST_NODE or message.first:
            raise RemoteProtocolError("only between mediators a summary comes in parts")
        return summary.decode(message.known)

    def next_expiry_ms(self) -> int:
        """Return when something ends, or may end, that is no message."""
        return NEVER_MS

    def expire_state(self, until_ms: int, now_ms: int) -> bool:
        """End what is no message and is over by then; return whether anything was. It is told as of now."""
        return False

    def next_timer_ms(self) -> int:
        """Return when there is something to do that cannot wait for the node's next verb."""
        return NEVER_MS

    def timer_due(self, now_ms: int) -> None:  # noqa: B027 nothing is what most do
        """Do it."""

    # ------------------------------------------------------------------ what look-ups ask
    # (dens/overlay/session/lookup.py)

    def offers_for(self, question: bytes) -> list[HeardOffer]:
        """Return the announcements that a question is about; ends know of none that they could vouch for.
        Bytes that are no question raise `VectorError`.
        """
        return []

    def lookup_due_ms(self) -> int:
        """Return when this node wants to know who offers what."""
        return NEVER_MS

    def next_question(self, now_ms: int) -> tuple[bytes, int, int] | None:
        """Return what it wants to know now: the question, over how many mediators, for how long; or None. It
        does not want it a second time for that.
        """
        return None

    def on_lookup_started(self, number: int) -> None:  # noqa: B027 nothing is what most do
        """Learn that what it wanted to know was asked, under this number."""

    def on_lookup_done(self, heard: OffersHeard, now_ms: int) -> None:  # noqa: B027 nothing is what most do
        """Learn what was answered."""

    # ------------------------------------------------------------------ what a transmitter asks

    @abstractmethod
    def summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        """Return the summary this peer needs."""

    def summary_part(
        self, session: PeerSession, first: int, last: int | None, most_bytes: int
    ) -> tuple[bytes, int]:
        """Return the summary this peer needs of the origins from `first` to `last`, and the last (None: as
        many as fit). What an end needs is in one part.
        """
        return self.summary_for(session, most_bytes), LAST_NODE

    @abstractmethod
    def held(self, item_id: ItemId) -> Item | None:
        """Return a message that is held and may be sent."""

    def relays_as_held(self) -> bool:
        """Return whether notifications always leave as they are held, so that nobody need be asked how."""
        return False

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message that is held as it is to be transmitted, or None where it is not worth sending any
        more.
        """
        return item

    def reserves_copies(self) -> bool:
        """Return whether `leaves` has to be called for notifications."""
        return False

    def on_transmit(  # noqa: B027 most count no copies
        self, item: Item, session: PeerSession, now_ms: int
    ) -> None:
        """Reserve a copy for a peer: this notification, in this form, is sent to it now."""

    def summary_note(self, session: PeerSession, now_ms: int) -> bytes:
        """Return what the replication policy tells its peers; ends have none."""
        return b""

    def hosts_for(self, session: PeerSession) -> tuple[int, ...]:
        """Return the ends that this peer is told of as hosted here; ends host nobody."""
        return ()
