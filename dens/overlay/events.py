"""What happened in an engine, past tense and frozen. The events are the log; a driver writes the trace from
them.

Every event about a message holds the `Item` (type, language, origin, number, payload, `size` without tag,
`hops`, `age_ms(at_ms)`), the peer it has to do with, and a word for the reason where there is one. `kind`
is the trace's word for it.
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
        """Return the same event in the time of somebody whose own clock is so far behind, and for whom it did
        not happen before that time.
        """
        item = self.item.replace(created_ms=self.item.created_ms - ahead_ms)
        at_ms = max(self.at_ms - ahead_ms, least_ms)
        return type(self)(at_ms, item, self.peer, self.reason, self.satisfied)


class MessageCreated(MessageEvent):
    """An application or the engine made it: a subscription, a notification, a receipt …"""

    __slots__ = ()
    kind: ClassVar[str] = "created"


class NotificationMade(MessageEvent):
    """A DENS node made this notification of others that it holds (dens/overlay/mediator/composition.py),
    and keeps it."""

    __slots__ = ()
    kind: ClassVar[str] = "made"


class MessageStored(MessageEvent):
    """This node keeps it from now on; it came from the node that made it (or was made here)."""

    __slots__ = ()
    kind: ClassVar[str] = "stored"


class CopyReplicated(MessageEvent):
    """This DENS node keeps it from now on; it came from another DENS node."""

    __slots__ = ()
    kind: ClassVar[str] = "replicated"


class NotificationDelivered(MessageEvent):
    """The application sees this notification, for the first and only time.

    `item` is the notification (its payload is the notification vector), `satisfied` says which of this
    subscriber's subscriptions it satisfies, how well, and what else their language knows of that.
    """

    __slots__ = ()
    kind: ClassVar[str] = "delivered"


class DuplicateReceived(MessageEvent):
    """It came again; nothing was done except to acknowledge it."""

    __slots__ = ()
    kind: ClassVar[str] = "duplicate"


class MessageAcknowledged(MessageEvent):
    """The peer has it durably, or has said why it does not want it (`reason` is the status then)."""

    __slots__ = ()
    kind: ClassVar[str] = "acknowledged"


class InstallSpared(MessageEvent):
    """A mediator does not ask this publisher for a subscription: what it looks for already stands for that
    one. `item` is the install that was not sent; it is told once for each publisher."""

    __slots__ = ()
    kind: ClassVar[str] = "spared"


class MessageExpired(MessageEvent):
    """Its lifetime was over and it was forgotten here."""

    __slots__ = ()
    kind: ClassVar[str] = "expired"


class CopyDropped(MessageEvent):
    """This node's copy was given up before its time, for the reason named."""

    __slots__ = ()
    kind: ClassVar[str] = "dropped"


class MessageRefused(MessageEvent):
    """It came whole and authentic and was not accepted, for the reason named; the sender was told."""

    __slots__ = ()
    kind: ClassVar[str] = "refused"


class MessageQuarantined(MessageEvent):
    """Some work with it failed that must not fail, as the reason says, and is not tried with it again. If it
    is held it stays so, and is relayed (dens/overlay/session/quarantine.py)."""

    __slots__ = ()
    kind: ClassVar[str] = "quarantined"


class MessageUndecided(MessageEvent):
    """What a message satisfies, or is satisfied by, is not decided: the reason is `work` where the budget of
    its origin is spent and it is decided later, and otherwise which work reached its limit; that stays
    undecided (dens/overlay/session/work_budget.py)."""

    __slots__ = ()
    kind: ClassVar[str] = "undecided"


class SubscriptionUnserved(MessageEvent):
    """Nobody in reach of this subscriber can serve this subscription of its, as far as the partition has
    answered (the `OffersHeard` before it). It is told once, until somebody can. The reason is *partial* where
    not everybody has answered.
    """

    __slots__ = ()
    kind: ClassVar[str] = "unserved"


class SubscriptionServed(MessageEvent):
    """A publisher in reach can serve this subscription, which nobody could before."""

    __slots__ = ()
    kind: ClassVar[str] = "served"


@dataclass(frozen=True, slots=True)
class DatagramRefused:
    """Bytes came that are no acceptable message; nothing changed and nobody was told."""

    at_ms: int
    peer: int
    size: int
    reason: str

    @property
    def kind(self) -> str:
        """Return the trace's word for it."""
        return "refused"


class NotificationMatched:
    """A DENS node found that this notification is owed to this subscription revision.

    What is owed is not stored but found again after a restart; then it is marked as `from_before`.
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
        told = (self.at_ms, self.item, self.subscriber, self.id, self.seq, self.degree_u8, self.from_before)
        return f"NotificationMatched{(*told, self.detail)}"

    def at(self, at_ms: int, created_ms: int) -> "NotificationMatched":
        """Return the same as of another time, of a notification that was made at another time."""
        item = self.item.replace(created_ms=created_ms)
        of = (self.subscriber, self.id, self.seq, self.degree_u8, self.from_before, self.detail)
        return NotificationMatched(at_ms, item, *of)


@dataclass(frozen=True, slots=True)
class RoutesChanged:
    """What a broker has from a neighbour, and tells it, is another: how many advertisements came by it, how
    many bodies it is asked for, for how many others these stand, and how many of them are mergers.
    """

    at_ms: int
    neighbour: int
    advertisements: int
    subscriptions: int
    covered: int
    mergers: int


@dataclass(frozen=True, slots=True)
class FilterInstalled:
    """A publisher's filter host took a subscription over. `item` is the subscription, `code` the host's
    answer."""

    at_ms: int
    item: Item
    peer: int | None
    code: int


@dataclass(frozen=True, slots=True)
class FilterRemoved:
    """A publisher's filter host was told to forget a subscription: it was withdrawn or its lifetime was
    over."""

    at_ms: int
    subscriber: int
    id: int
    seq: int
    reason: str


class HoldingsEnded:
    """Something that a node held ended at `at_ms`, and so much is left since: subscriptions, notifications,
    and the bytes of the latter. Ends are told late (dens/overlay/session/engine.py), so nobody could ask
    for it in time.
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
        """Return the same as of another time."""
        return HoldingsEnded(at_ms, self.subscriptions, self.notifications, self.octets)


class HeardOffer(NamedTuple):
    """A publisher's announcement as it was told, and over how many hops the publisher is in contact: 1 is a
    contact of this node's own, 0 none that anybody knows of.
    """

    distance: int
    item: Item


@dataclass(frozen=True, slots=True)
class OffersHeard:
    """The partition has answered a look-up of this node, or time was over. `mediators` have answered: with
    none nobody did. `missing` says why there may be more: late, lost, far, much, busy
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
    """Two who are both alive call themselves by one number, at these places. A driver tells it: an engine
    knows numbers only, and what the two say looks like one node's to it, so that some of it is lost.
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
    """A driver no longer hears a neighbour, for the reason named."""

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
