"""What happened in an engine, past tense and frozen. The events are the log; a driver writes the trace from
them.

Every event about a message holds the `Item` (type, language, origin, number, payload, `size` without tag,
`hops`, `age_ms(at_ms)`), the peer it has to do with, and a word for the reason where there is one. `kind`
is the trace's word for it.
"""

from dataclasses import dataclass
from typing import ClassVar

from dens.item import Item


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """Something happened to a message at `at_ms`."""

    kind: ClassVar[str]

    at_ms: int
    item: Item
    peer: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MessageCreated(MessageEvent):
    """An application or the engine made it: a subscription, a notification, a receipt …"""

    kind: ClassVar[str] = "created"


@dataclass(frozen=True, slots=True)
class MessageStored(MessageEvent):
    """This node keeps it from now on; it came from the node that made it (or was made here)."""

    kind: ClassVar[str] = "stored"


@dataclass(frozen=True, slots=True)
class CopyReplicated(MessageEvent):
    """This DENS node keeps it from now on; it came from another DENS node."""

    kind: ClassVar[str] = "replicated"


@dataclass(frozen=True, slots=True)
class NotificationDelivered(MessageEvent):
    """The application sees this notification, for the first and only time.

    `item` is the notification (its payload is the notification vector), `satisfied` names the subscriptions.
    """

    kind: ClassVar[str] = "delivered"

    satisfied: tuple[tuple[int, int, int], ...] = ()
    """(id, seq, degree_u8) of each of this subscriber's subscriptions that it satisfies."""


@dataclass(frozen=True, slots=True)
class DuplicateReceived(MessageEvent):
    """It came again; nothing was done except to acknowledge it."""

    kind: ClassVar[str] = "duplicate"


@dataclass(frozen=True, slots=True)
class MessageAcknowledged(MessageEvent):
    """The peer has it durably, or has said why it does not want it (`reason` is the status then)."""

    kind: ClassVar[str] = "acknowledged"


@dataclass(frozen=True, slots=True)
class MessageExpired(MessageEvent):
    """Its lifetime was over and it was forgotten here."""

    kind: ClassVar[str] = "expired"


@dataclass(frozen=True, slots=True)
class CopyDropped(MessageEvent):
    """This node's copy was given up before its time, for the reason named."""

    kind: ClassVar[str] = "dropped"


@dataclass(frozen=True, slots=True)
class MessageRefused(MessageEvent):
    """It came whole and authentic and was not accepted, for the reason named; the sender was told."""

    kind: ClassVar[str] = "refused"


@dataclass(frozen=True, slots=True)
class DatagramRefused:
    """Bytes came that are no acceptable message; nothing changed and nobody was told."""

    kind: ClassVar[str] = "refused"

    at_ms: int
    peer: int
    size: int
    reason: str


@dataclass(frozen=True, slots=True)
class NotificationMatched:
    """A DENS node found that this notification is owed to this subscription revision."""

    at_ms: int
    item: Item
    subscriber: int
    id: int
    seq: int
    degree_u8: int


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


Event = MessageEvent | DatagramRefused | NotificationMatched | FilterInstalled | FilterRemoved
