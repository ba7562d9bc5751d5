"""The numbers of the protocols, a sentence each. They are on the air: a number never changes its meaning."""

from enum import IntEnum
from typing import Final


class MessageType(IntEnum):
    """What a message says. Its lower-case name is the word in traces."""

    HELLO = 1
    """I am here: my role, my session number, and the session number I heard from you."""
    SUMMARY = 2
    """These are the messages I know; send me what is missing."""
    ACKNOWLEDGEMENT = 3
    """These messages of yours are durable here, or were refused for a reason."""
    BATCH = 4
    """Several small messages in one datagram, each in its envelope."""
    LOOKUP = 5
    """Who offers this? Asked of a mediator, which asks those it is in contact with."""
    OFFERS = 6
    """These do, as far as was answered: announcements told again, and how far away their publishers are."""

    SUBSCRIBE = 16
    """A subscriber asks: the subscription vector."""
    RENEW = 17
    """A subscriber asks for longer: how long it has been in force already, and the same vector again."""
    UNSUBSCRIBE = 18
    """A subscriber no longer asks: a tombstone for a subscription and all its older revisions."""
    RECEIPT = 19
    """A subscriber has this notification; carried by mediators so that they stop carrying that one."""
    NOTIFY = 20
    """A notification for this subscriber, or for one whom this mediator hosts, and which of its
    subscriptions it satisfies."""

    ANNOUNCE = 32
    """A publisher says what it can measure: an extract of its local data dictionary."""
    INSTALL = 33
    """A mediator asks a publisher to filter for this subscription; the message is the subscription itself."""
    REMOVE = 34
    """A mediator tells a publisher that a subscription was withdrawn; the message is the tombstone itself."""
    NOTIFICATION = 35
    """A publisher's event on its way."""
    ADVERTISE = 36
    """A publisher says what it may publish; brokers pass it on, and it makes the publisher's tree."""
    UNADVERTISE = 37
    """A publisher no longer publishes that: a tombstone for an advertisement and all its older revisions."""
    JOIN = 38
    """A broker asks a neighbour for those of a publisher's notifications that this body describes."""
    PRUNE = 39
    """A broker no longer asks a neighbour for what this JOIN of its described."""


TYPE_NAMES: Final[dict[int, str]] = {member.value: member.name.lower() for member in MessageType}
"""The word for a type in traces and messages."""

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
"""Messages that mean something on one link only: never stored, never relayed."""

SIGNABLE_TYPES: Final = frozenset(
    {MessageType.SUBSCRIBE, MessageType.RENEW, MessageType.UNSUBSCRIBE, MessageType.RECEIPT}
)
"""What a subscriber says; it may be followed by the subscriber's signature."""

SIGNATURE_BYTES: Final = 64

DIRECT_LANGUAGE: Final = 0
"""The language whose notifications name their receiver; it is the only one the overlay knows of."""

LINK_NUMBER: Final = 1 << 31
"""Numbers from here on name link messages; numbers below name what is stored and relayed."""

LAST_NODE: Final = (1 << 31) - 1
"""The highest number of a node. It has four bytes on the air, and fits into the columns of traces."""


class Role(IntEnum):
    """What a node is to the overlay."""

    SUBSCRIBER = 1
    """It asks."""
    MEDIATOR = 2
    """It is a DENS node: it stores, matches, carries, forwards."""
    PUBLISHER = 3
    """It measures."""


class Status(IntEnum):
    """How a message was taken, as an acknowledgement says it."""

    STORED = 0
    """It is durable here now."""
    KNOWN = 1
    """It was here already, or was here and is done with."""
    SUPERSEDED = 2
    """Something newer of the same subscription or publisher is here; the old one will never be needed."""
    EXPIRED = 3
    """Its lifetime was over when it came."""
    NO_ROOM = 4
    """The buffers are full of what counts more."""
    UNKNOWN_LANGUAGE = 5
    """No plug-in for its language is here."""
    BAD_PAYLOAD = 6
    """Its payload is not well-formed in its language."""
    FOREIGN_ORIGIN = 7
    """An end may speak for itself only, and this message is another node's."""
    UNEXPECTED = 8
    """A node of this role does not take messages of this type."""
    NOT_SIGNED = 9
    """Its origin signs what it says, and this has no signature or one that does not verify."""
    NOT_MEASURED = 10
    """No source of this publisher measures what it asks for."""
    UNKNOWN_SOURCE = 11
    """What measures it has a protocol and content type that nothing at this publisher reads."""
    SOURCE_FAILED = 12
    """What measures it could not be started."""
    RELIED_ON = 13
    """Other mediators may rely on the filter that it would take away; it goes when they have asked too."""
    NOT_ADVERTISED = 14
    """It lies outside of everything that its publisher advertised."""
    QUARANTINED = 15
    """This node holds and relays the subscription, but a language failed with it, so nothing is found for it
    here."""
    WORK = 16
    """The work budget of its origin is spent here; offered again later, it may be taken."""


class Reason(IntEnum):
    """Why something was dropped or refused without an acknowledgement. The lower-case name is the word in
    traces."""

    MALFORMED = 1
    """The bytes are no message."""
    TABLE_CHECK = 2
    """The sender works with another mission table, so its features mean something else."""
    BAD_TAG = 3
    """The tag does not verify: corrupted, forged, replayed from another session, or another mission key."""
    NO_TAG = 4
    """It carries no tag, and this mission has a key."""
    UNEXPECTED_TAG = 5
    """It carries a tag, and this mission has no key to verify it with."""
    NO_CONTACT = 6
    """It came from a node with which no contact is open."""
    LIFETIME_OVER = 7
    """It was kept as long as it was worth keeping."""
    WITHDRAWN = 8
    """Its subscriber took it back."""
    REPLACED = 9
    """A newer one of the same subscription or publisher took its place."""
    DELIVERED = 10
    """Everybody known to be owed it has it, and room was needed, or it was here for ends of this device
    only, or at a broker, which carries nothing."""
    OVER_QUOTA = 11
    """Room was needed, and its origin held more than its share; or a composite, and its subscriber or its
    subscription did."""
    LOWEST_DEGREE = 12
    """Room was needed, and this satisfied its subscriptions least; the oldest among equals."""
    OLDEST = 13
    """Room was needed, and this was the oldest of its kind."""
    VERSION = 14
    """The sender speaks another version of the protocol; one of the two has to be brought up to date."""
    RATE_LIMIT = 15
    """It asks for a new session, summarises again, or looks up more often than anybody need."""
    PATIENCE_OVER = 16
    """A broker waited for the one whom it was for, who did not come back in time."""


UNVERIFIED: Final = "unverified"
"""The word in events for what was taken from a trusted link without a tag."""
REASON_NAMES: Final[dict[int, str]] = {member.value: member.name.lower() for member in Reason}
STATUS_NAMES: Final[dict[int, str]] = {member.value: member.name.lower() for member in Status}

# Naming a member of an enumeration costs ten times as much as naming one of these, and every message does
# so dozens of times.
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
"""What puts a subscription in force."""
HAS_IT: Final = frozenset({STORED, KNOWN})
"""After these answers the peer has the message."""
