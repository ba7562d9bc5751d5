"""Codes of the protocol: message types, roles, statuses, reasons. They are on the air: a code never changes
its meaning.
"""

from enum import IntEnum
from typing import Final


class MessageType(IntEnum):
    """Type of a message. The lower-case name is used in traces."""

    HELLO = 1
    """Opens a session: role and session number of the sender, and the session number of the receiver if
    known.
    """
    SUMMARY = 2
    """Messages that the sender knows; the receiver sends what is missing."""
    ACKNOWLEDGEMENT = 3
    """Messages of the receiver that are durable at the sender, or refused with a status."""
    BATCH = 4
    """Several small messages in one datagram, each in its envelope."""
    LOOKUP = 5
    """Question who offers something, to a mediator, which forwards it to those in contact."""
    OFFERS = 6
    """Answer to a LOOKUP: announcements, and the distance of their publishers."""

    SUBSCRIBE = 16
    """A subscription: its vector."""
    RENEW = 17
    """Extends a subscription: the time it has been in force, and the same vector."""
    UNSUBSCRIBE = 18
    """Withdraws a subscription: a tombstone for it and all its older revisions."""
    RECEIPT = 19
    """A subscriber has this notification; mediators carry the receipt and stop carrying the notification."""
    NOTIFY = 20
    """A notification for this subscriber, or for one that this mediator hosts, with the subscriptions that it
    satisfies."""

    ANNOUNCE = 32
    """What a publisher can measure: an extract of its local data dictionary."""
    INSTALL = 33
    """Installs a subscription as a filter at a publisher; it keeps origin and number of the subscription."""
    REMOVE = 34
    """Removes a filter from a publisher; it keeps origin and number of the tombstone."""
    NOTIFICATION = 35
    """An event of a publisher, between its outbox and the mediators."""
    ADVERTISE = 36
    """What a publisher may publish; brokers forward it and build the publisher's tree from it."""
    UNADVERTISE = 37
    """Withdraws an advertisement: a tombstone for it and all its older revisions."""
    JOIN = 38
    """A broker requests from a neighbour the notifications of a publisher that this body describes."""
    PRUNE = 39
    """A broker withdraws a JOIN from a neighbour."""


TYPE_NAMES: Final[dict[int, str]] = {member.value: member.name.lower() for member in MessageType}
"""Names of types in traces and messages."""

LINK_TYPES: Final = frozenset(
    {
        MessageType.HELLO,
        MessageType.SUMMARY,
        MessageType.ACKNOWLEDGEMENT,
        MessageType.BATCH,
        MessageType.LOOKUP,
        MessageType.OFFERS,
    }
)
"""Messages of one link: never stored, never relayed."""

SIGNABLE_TYPES: Final = frozenset(
    {MessageType.SUBSCRIBE, MessageType.RENEW, MessageType.UNSUBSCRIBE, MessageType.RECEIPT}
)
"""Messages of subscribers, which may carry a signature."""

SIGNATURE_BYTES: Final = 64

DIRECT_LANGUAGE: Final = 0
"""The language whose notifications name their receiver; the only one that the overlay knows."""

LINK_NUMBER: Final = 1 << 31
"""Numbers from here on belong to link messages; lower ones to messages that are stored and relayed."""

LAST_NODE: Final = (1 << 31) - 1
"""The highest node number: four bytes on the air, and it fits into signed columns of traces."""


class Role(IntEnum):
    """Role of a node in the overlay."""

    SUBSCRIBER = 1
    MEDIATOR = 2
    """A DENS node: it stores, matches, carries and forwards."""
    PUBLISHER = 3


class Status(IntEnum):
    """Result of receiving a message, as acknowledgements report it."""

    STORED = 0
    """Durable at the receiver."""
    KNOWN = 1
    """Known already: held, or held before."""
    SUPERSEDED = 2
    """The receiver has a newer message of the same subscription or publisher; the old one is never needed."""
    EXPIRED = 3
    """Expired on arrival."""
    NO_ROOM = 4
    """Buffers are full of messages with higher priority."""
    UNKNOWN_LANGUAGE = 5
    """The receiver has no plug-in for its language."""
    BAD_PAYLOAD = 6
    """Its payload is not well-formed in its language."""
    FOREIGN_ORIGIN = 7
    """An endpoint may send its own messages only, and this one has another origin."""
    UNEXPECTED = 8
    """Nodes of this role do not accept messages of this type."""
    NOT_SIGNED = 9
    """Its origin signs its messages, and this one has no valid signature."""
    NOT_MEASURED = 10
    """No source of this publisher measures what the subscription needs."""
    UNKNOWN_SOURCE = 11
    """The source has a protocol and content type that this publisher cannot read."""
    SOURCE_FAILED = 12
    """The source could not be started."""
    RELIED_ON = 13
    """Other mediators hold a lease on the filter; it is removed when they have requested that too."""
    NOT_ADVERTISED = 14
    """Outside everything that its publisher advertised."""
    QUARANTINED = 15
    """Held and relayed, but its language failed with this subscription, so this node matches nothing for it.
    """
    WORK = 16
    """The work budget of its origin is spent; the message may be accepted later."""


class Reason(IntEnum):
    """Why a message was dropped, or refused without an acknowledgement. The lower-case name is used in
    traces.
    """

    MALFORMED = 1
    """The bytes are not a valid message."""
    TABLE_CHECK = 2
    """The sender has another mission table, so its features have other meanings."""
    BAD_TAG = 3
    """The tag does not verify: corrupted, forged, replayed from another session, or another mission key."""
    NO_TAG = 4
    """It has no tag, and this mission has a key."""
    UNEXPECTED_TAG = 5
    """It has a tag, and this mission has no key."""
    NO_CONTACT = 6
    """No contact with its sender is open."""
    LIFETIME_OVER = 7
    """It expired."""
    WITHDRAWN = 8
    """Its subscriber withdrew it."""
    REPLACED = 9
    """A newer message of the same subscription or publisher replaced it."""
    DELIVERED = 10
    """All known subscribers have it, and space was needed; or it was for endpoints of this device only; or
    this is a broker, which carries nothing.
    """
    OVER_QUOTA = 11
    """Space was needed, and its origin exceeded its share (a composite: its subscriber or subscription)."""
    LOWEST_DEGREE = 12
    """Space was needed, and it had the lowest degree; the oldest among equals."""
    OLDEST = 13
    """Space was needed, and it was the oldest of its kind."""
    VERSION = 14
    """The sender has another version of the protocol; one of the two has to be updated."""
    RATE_LIMIT = 15
    """The peer starts sessions, sends summaries or look-ups more often than the limits allow."""
    PATIENCE_OVER = 16
    """A broker waited for the receiver, which did not return in time."""


UNVERIFIED: Final = "unverified"
"""Reason in events for messages accepted from a trusted link without a tag."""
REASON_NAMES: Final[dict[int, str]] = {member.value: member.name.lower() for member in Reason}
STATUS_NAMES: Final[dict[int, str]] = {member.value: member.name.lower() for member in Status}

# Access to a member of an enumeration costs ten times as much as to one of these constants, and every message
# needs dozens of them.
HELLO: Final = int(MessageType.HELLO)
SUMMARY: Final = int(MessageType.SUMMARY)
ACKNOWLEDGEMENT: Final = int(MessageType.ACKNOWLEDGEMENT)
BATCH: Final = int(MessageType.BATCH)
LOOKUP: Final = int(MessageType.LOOKUP)
OFFERS: Final = int(MessageType.OFFERS)
SUBSCRIBE: Final = int(MessageType.SUBSCRIBE)
RENEW: Final = int(MessageType.RENEW)
UNSUBSCRIBE: Final = int(MessageType.UNSUBSCRIBE)
RECEIPT: Final = int(MessageType.RECEIPT)
NOTIFY: Final = int(MessageType.NOTIFY)
ANNOUNCE: Final = int(MessageType.ANNOUNCE)
INSTALL: Final = int(MessageType.INSTALL)
REMOVE: Final = int(MessageType.REMOVE)
NOTIFICATION: Final = int(MessageType.NOTIFICATION)
ADVERTISE: Final = int(MessageType.ADVERTISE)
UNADVERTISE: Final = int(MessageType.UNADVERTISE)
JOIN: Final = int(MessageType.JOIN)
PRUNE: Final = int(MessageType.PRUNE)
SUBSCRIBER: Final = Role.SUBSCRIBER
MEDIATOR: Final = Role.MEDIATOR
PUBLISHER: Final = Role.PUBLISHER
STORED: Final = Status.STORED
KNOWN: Final = Status.KNOWN
SUPERSEDED: Final = Status.SUPERSEDED
EXPIRED: Final = Status.EXPIRED
NO_ROOM: Final = Status.NO_ROOM
UNKNOWN_LANGUAGE: Final = Status.UNKNOWN_LANGUAGE
BAD_PAYLOAD: Final = Status.BAD_PAYLOAD
FOREIGN_ORIGIN: Final = Status.FOREIGN_ORIGIN
UNEXPECTED: Final = Status.UNEXPECTED
NOT_SIGNED: Final = Status.NOT_SIGNED
NOT_ADVERTISED: Final = Status.NOT_ADVERTISED
QUARANTINED: Final = Status.QUARANTINED
WORK: Final = Status.WORK
ASKING: Final = frozenset({SUBSCRIBE, RENEW})
"""Types that put a subscription in force."""
HAS_IT: Final = frozenset({STORED, KNOWN})
"""Statuses after which the peer has the message."""
ORIGIN_ROLES: Final[dict[int, Role]] = {
    SUBSCRIBE: SUBSCRIBER,
    RENEW: SUBSCRIBER,
    UNSUBSCRIBE: SUBSCRIBER,
    RECEIPT: SUBSCRIBER,
    ANNOUNCE: PUBLISHER,
    NOTIFICATION: PUBLISHER,
    ADVERTISE: PUBLISHER,
    UNADVERTISE: PUBLISHER,
    JOIN: MEDIATOR,
    PRUNE: MEDIATOR,
}
"""The role of the nodes that create messages of each type."""
