"""Events of an engine. A driver writes the trace from them.

Every event about a message has the `Item` (type, language, origin, number, payload, `size` without tag,
`hops`, `age_ms(at_ms)`), the peer concerned, and a reason if there is one. `kind` is its name in the trace.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from dens.overlay.wire.item import AT_ONCE_MS, Item
from dens.overlay.wire.messages import Satisfied


class MessageEvent:
    """Something happened to a message at `at_ms`."""

    __slots__ = ("at_ms", "item", "peer", "reason", "satisfied")
    kind: ClassVar[str] = ""

    def __init__(
        self,
        at_ms: int,
        item: Item,
        peer: int | None = None,
        reason: str | None = None,
        satisfied: tuple[Satisfied, ...] = (),
    ) -> None:
        self.at_ms = at_ms
        self.item = item
        self.peer = peer
        self.reason = reason
        self.satisfied = satisfied

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._facts()}"

    def _facts(self) -> tuple[object, ...]:
        return (self.at_ms, self.item, self.peer, self.reason, self.satisfied)

    def in_time_of(self, ahead_ms: int, least_ms: int = AT_ONCE_MS) -> Self:
        """Return the event in the time of a clock that is `ahead_ms` behind, and not before `least_ms`."""
        item = self.item.replace(created_ms=self.item.created_ms - ahead_ms)
        at_ms = max(self.at_ms - ahead_ms, least_ms)
        return type(self)(at_ms, item, self.peer, self.reason, self.satisfied)


class MessageCreated(MessageEvent):
    """An application or the engine created it: a subscription, a notification, a receipt …"""

    __slots__ = ()
    kind: ClassVar[str] = "created"


class NotificationMade(MessageEvent):
    """A DENS node derived this notification from others that it holds, and holds it
    (dens/overlay/mediator/composition.py)."""

    __slots__ = ()
    kind: ClassVar[str] = "made"


class MessageStored(MessageEvent):
    """This node holds it from now on; it came from its origin (or was created here)."""

    __slots__ = ()
    kind: ClassVar[str] = "stored"


class CopyReplicated(MessageEvent):
    """This DENS node holds it from now on; it came from another DENS node."""

    __slots__ = ()
    kind: ClassVar[str] = "replicated"


class NotificationDelivered(MessageEvent):
    """The application sees this notification, for the first and only time.

    The payload of `item` is the notification vector. `satisfied` has the satisfied subscriptions of this
    subscriber, with degree and detail.
    """

    __slots__ = ()
    kind: ClassVar[str] = "delivered"


class DuplicateReceived(MessageEvent):
    """It came again and was only acknowledged."""

    __slots__ = ()
    kind: ClassVar[str] = "duplicate"


class MessageAcknowledged(MessageEvent):
    """The peer holds it durably, or rejected it (then `reason` is the status)."""

    __slots__ = ()
    kind: ClassVar[str] = "acknowledged"


class InstallSpared(MessageEvent):
    """A mediator suppressed the INSTALL of a subscription that an installed filter of this publisher covers.
    `item` is the INSTALL that was not sent. Reported once per publisher."""

    __slots__ = ()
    kind: ClassVar[str] = "spared"


class MessageExpired(MessageEvent):
    """It expired here."""

    __slots__ = ()
    kind: ClassVar[str] = "expired"


class CopyDropped(MessageEvent):
    """This node dropped its copy before it expired."""

    __slots__ = ()
    kind: ClassVar[str] = "dropped"


class MessageRefused(MessageEvent):
    """It was valid and authentic but not accepted. The sender gets the status."""

    __slots__ = ()
    kind: ClassVar[str] = "refused"


class MessageQuarantined(MessageEvent):
    """Processing it failed, as the reason states, and is not tried again. If it is held, it stays held and is
    relayed (dens/overlay/session/quarantine.py)."""

    __slots__ = ()
    kind: ClassVar[str] = "quarantined"


class MessageUndecided(MessageEvent):
    """Matching of a message is undecided. The reason is `work` if the budget of its origin is spent and it is
    matched later; otherwise the work that reached its limit, which stays undecided
    (dens/overlay/session/work_budget.py)."""

    __slots__ = ()
    kind: ClassVar[str] = "undecided"


class SubscriptionUnserved(MessageEvent):
    """No publisher in reach can serve this subscription, according to the answers to the last look-up (the
    preceding `OffersHeard`). Reported once, until a publisher can. The reason is *partial* if answers are
    missing.
    """

    __slots__ = ()
    kind: ClassVar[str] = "unserved"


class SubscriptionServed(MessageEvent):
    """A publisher in reach can serve this subscription, which was unserved before."""

    __slots__ = ()
    kind: ClassVar[str] = "served"


@dataclass(frozen=True, slots=True)
class DatagramRefused:
    """Received bytes are not an acceptable message; nothing changed and no answer was sent."""

    at_ms: int
    peer: int
    size: int
    reason: str

    @property
    def kind(self) -> str:
        """Return the name in the trace."""
        return "refused"


class NotificationMatched:
    """A DENS node found a notification pending for a subscription revision.

    Pending deliveries are not stored but recomputed after a restart; then `from_before` is True.
    """

    __slots__ = ("at_ms", "degree_u8", "detail", "from_before", "id", "item", "seq", "subscriber")

    def __init__(
        self,
        at_ms: int,
        item: Item,
        subscriber: int,
        id: int,
        seq: int,
        degree_u8: int,
        from_before: bool = False,
        detail: bytes = b"",
    ) -> None:
        self.at_ms = at_ms
        self.item = item
        self.subscriber = subscriber
        self.id = id
        self.seq = seq
        self.degree_u8 = degree_u8
        self.from_before = from_before
        self.detail = detail

    def __repr__(self) -> str:
        facts = (self.at_ms, self.item, self.subscriber, self.id, self.seq, self.degree_u8, self.from_before)
        return f"NotificationMatched{(*facts, self.detail)}"

    def at(self, at_ms: int, created_ms: int) -> "NotificationMatched":
        """Return the event with other times of the event and the notification."""
        item = self.item.replace(created_ms=created_ms)
        of = (self.subscriber, self.id, self.seq, self.degree_u8, self.from_before, self.detail)
        return NotificationMatched(at_ms, item, *of)


@dataclass(frozen=True, slots=True)
class RoutesChanged:
    """The routing tables of a broker for a neighbour changed: advertisements received from it, subscriptions
    forwarded to it, how many others these cover, and how many of them are mergers.
    """

    at_ms: int
    neighbour: int
    advertisements: int
    subscriptions: int
    covered: int
    mergers: int


@dataclass(frozen=True, slots=True)
class FilterInstalled:
    """A publisher's filter host installed a subscription. `code` is the host's result code."""

    at_ms: int
    item: Item
    peer: int | None
    code: int


@dataclass(frozen=True, slots=True)
class FilterRemoved:
    """A publisher's filter host removed a subscription that was withdrawn or expired."""

    at_ms: int
    subscriber: int
    id: int
    seq: int
    reason: str


class HoldingsEnded:
    """Something that a node held expired at `at_ms`; the numbers of subscriptions, notifications and bytes of
    notifications that are left. Expiry is reported late (dens/overlay/session/engine.py), so a driver could
    not query them in time.
    """

    __slots__ = ("at_ms", "notifications", "octets", "subscriptions")

    def __init__(self, at_ms: int, subscriptions: int, notifications: int, octets: int) -> None:
        self.at_ms = at_ms
        self.subscriptions = subscriptions
        self.notifications = notifications
        self.octets = octets

    def __repr__(self) -> str:
        return f"HoldingsEnded({self.at_ms}, {self.subscriptions}, {self.notifications}, {self.octets})"

    def at(self, at_ms: int) -> "HoldingsEnded":
        """Return the event with another time."""
        return HoldingsEnded(at_ms, self.subscriptions, self.notifications, self.octets)


class HeardOffer(NamedTuple):
    """A publisher's announcement, and the number of hops to the publisher: 1 is a contact of this node, 0 is
    no known contact.
    """

    distance: int
    item: Item


@dataclass(frozen=True, slots=True)
class OffersHeard:
    """A look-up of this node ended, by answers or by time. `mediators` is the number of mediators that
    answered, `missing` why there may be more offers: late, lost, far, much, busy
    (dens/overlay/session/lookup.py).
    """

    at_ms: int
    number: int
    question: bytes
    offers: tuple[HeardOffer, ...]
    """The nearest first."""
    mediators: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberShared:
    """Two live nodes use the same number, at these places. A driver reports it. An engine cannot distinguish
    them, so some of their messages are lost.
    """

    at_ms: int
    node: int
    places: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ContactOpened:
    """A driver heard a neighbour for the first time, or again after the contact was closed."""

    at_ms: int
    peer: int
    place: str


@dataclass(frozen=True, slots=True)
class ContactClosed:
    """A driver no longer hears a neighbour."""

    at_ms: int
    peer: int
    place: str
    reason: str


Event = (
    MessageEvent
    | DatagramRefused
    | NotificationMatched
    | FilterInstalled
    | FilterRemoved
    | HoldingsEnded
    | RoutesChanged
    | OffersHeard
    | NumberShared
    | ContactOpened
    | ContactClosed
)
