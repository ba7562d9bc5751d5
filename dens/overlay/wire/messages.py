"""Payloads: one immutable class per message type, each with `encode` and a total `decode` that raises
RemoteProtocolError. Those of link messages are plain classes with slots, because every contact makes several.

Payloads that are opaque to the overlay have no class: a subscription vector (SUBSCRIBE, INSTALL), a
notification vector (NOTIFICATION), an extract (ANNOUNCE). The first three bytes of a subscription vector
belong to the overlay (`watchdog.header`: id, revision, lifetime code); the rest is the body in its language.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from struct import Struct
from typing import Final, NamedTuple

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER, STATUS_NAMES, Role
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK, ItemId, item_id
from watchdog.header import BODY_AT, HEADER_ID, HEADER_LIFETIME, HEADER_REVISION

_HELLO: Final = Struct(">BII")
HELLO_BYTES: Final = _HELLO.size
"""A summary begins with a HELLO of this size as well."""
_ENTRY: Final = Struct(">IIB")
ACK_BYTES: Final = _ENTRY.size
"""Bytes of one entry of an acknowledgement."""
_RECEIPT: Final = Struct(">II")
_INTERVAL: Final = Struct(">II")
_PART: Final = 0x80
"""Set in the count of hosted endpoints if an interval follows it."""
_ROLES: Final = frozenset(int(role) for role in Role)
NOTE_BYTES: Final = 16_384
"""The longest note of a replication policy."""
MOST_HOSTED: Final = 64
"""Endpoints that a mediator may host."""
MOST_SATISFIED: Final = 256
"""Subscription ids have one byte, so no notification satisfies more subscriptions of a subscriber."""


class LinkPayload(ABC):
    """Base of link payloads: equality, hash and repr by their fields."""

    __slots__ = ()

    @abstractmethod
    def _fields(self) -> tuple[object, ...]:
        """Return the fields."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._fields()}"


class Hello(LinkPayload):
    """Role and session number of the sender, and the session number of the receiver (0: unknown)."""

    __slots__ = ("heard", "role", "session")

    def __init__(self, role: int, session: int, heard: int) -> None:
        self.role = role
        self.session = session
        self.heard = heard

    def _fields(self) -> tuple[object, ...]:
        return self.role, self.session, self.heard

    def encode(self) -> bytes:
        return _HELLO.pack(self.role, self.session, self.heard)

    @staticmethod
    def decode(payload: bytes) -> "Hello":
        if len(payload) != _HELLO.size:
            raise RemoteProtocolError(
                f"a hello has {_HELLO.size} bytes, here are {len(payload)}", len(payload)
            )
        return Hello._read(payload)

    @staticmethod
    def _read(payload: bytes) -> "Hello":
        role, session, heard = _HELLO.unpack_from(payload)
        if role not in _ROLES:
            raise RemoteProtocolError(f"role {role} is not known", 0)
        if session == 0:
            raise RemoteProtocolError("a session has a number above 0", 1)
        return Hello(role, session, heard)


class SummaryMessage(LinkPayload):
    """Known messages of the sender. It repeats the fields of a HELLO, so it also answers one. Between
    mediators it carries the hosted endpoints and the note of the policy, and may be one of several parts,
    each for an interval of origins.
    """

    __slots__ = ("first", "hello", "hosts", "known", "last", "note", "part_of")

    def __init__(
        self,
        hello: Hello,
        note: bytes,
        known: bytes,
        hosts: tuple[int, ...] = (),
        first: int = 0,
        last: int = LAST_NODE,
        part_of: int = 0,
    ) -> None:
        self.hello = hello
        self.note = note
        self.known = known
        """The summary as in dens/overlay/wire/summary.py."""
        self.hosts = hosts
        """The hosted endpoints, ascending."""
        self.first = first
        self.last = last
        """The interval of origins that it covers."""
        self.part_of = part_of
        """In every part but the first: the link number of the first part, the one that begins with origin 0.
        """

    def _fields(self) -> tuple[object, ...]:
        return self.hello, self.note, self.known, self.hosts, self.first, self.last, self.part_of

    def encode(self) -> bytes:
        """Return the HELLO, the length of the mediator section in two bytes, that section, and the summary.

        The mediator section is empty, or: the count of hosted endpoints, the interval unless it covers all
        origins, four bytes per hosted endpoint, and the note. Every part but the first has the link number of
        the first one instead of endpoints and note.
        """
        section = b""
        if self.last != LAST_NODE or self.first:
            interval = _INTERVAL.pack(self.first, self.last)
            number = self.part_of.to_bytes(4, "big") if self.first else b""
            section = bytes((_PART | len(self.hosts),)) + interval + number
        elif self.note or self.hosts:
            section = bytes((len(self.hosts),))
        if section:
            section += b"".join([endpoint.to_bytes(4, "big") for endpoint in self.hosts]) + self.note
        return self.hello.encode() + len(section).to_bytes(2, "big") + section + self.known

    @staticmethod
    def decode(payload: bytes) -> "SummaryMessage":
        """Read a payload without decoding the summary, or raise RemoteProtocolError."""
        start = _HELLO.size + 2
        if len(payload) < start:
            raise RemoteProtocolError(
                f"a summary has at least {start} bytes, here are {len(payload)}", len(payload)
            )
        end = start + int.from_bytes(payload[_HELLO.size : start], "big")
        is_whole = end <= len(payload)
        first, last, part_of, hosts_at = 0, LAST_NODE, 0, start + 1
        hosts: tuple[int, ...] = ()
        note_at = start
        if is_whole and end > start:
            if payload[start] & _PART:
                first, last, part_of, hosts_at = _read_interval(payload, start + 1, end)
            hosts, note_at = _read_hosts(payload, start, hosts_at, end)
        if not is_whole or end - note_at > NOTE_BYTES:
            raise RemoteProtocolError("the note is longer than the payload or than allowed", _HELLO.size)
        if first and end > hosts_at:
            raise RemoteProtocolError(
                "only the first part of a summary has hosted endpoints or a note", hosts_at
            )
        hello = Hello._read(payload)
        return SummaryMessage(hello, payload[note_at:end], payload[end:], hosts, first, last, part_of)


def _read_interval(payload: bytes, start: int, end: int) -> tuple[int, int, int, int]:
    """Return the interval of a part, the link number of the first part, and the position after them."""
    position = start + _INTERVAL.size
    if position > end:
        raise RemoteProtocolError("a part of a summary ends within its interval", end)
    first, last = _INTERVAL.unpack_from(payload, start)
    if not first <= last <= LAST_NODE or last - first == LAST_NODE:
        raise RemoteProtocolError(f"{first} to {last} is not an interval of some origins", start)
    if not first:
        return first, last, 0, position
    if position + 4 > end:
        raise RemoteProtocolError("a part of a summary ends within a number", end)
    part_of = int.from_bytes(payload[position : position + 4], "big")
    if part_of < LINK_NUMBER:
        raise RemoteProtocolError("a part of a summary follows a link message", position)
    return first, last, part_of, position + 4


def _read_hosts(payload: bytes, start: int, hosts_at: int, end: int) -> tuple[tuple[int, ...], int]:
    """Return the hosted endpoints of a summary, and the position of the note."""
    count = payload[start] & ~_PART
    note_at = hosts_at + 4 * count
    if count > MOST_HOSTED or note_at > end:
        raise RemoteProtocolError(
            f"{count} hosted endpoints are more than {MOST_HOSTED} or than the payload holds", start
        )
    if end == start + 1:
        raise RemoteProtocolError("a mediator section without endpoints and note must be empty", start)
    hosts = tuple(int.from_bytes(payload[at : at + 4], "big") for at in range(hosts_at, note_at, 4))
    if any(endpoint >= following for endpoint, following in pairwise(hosts)):
        raise RemoteProtocolError("hosted endpoints must ascend", hosts_at)
    if hosts and hosts[-1] > LAST_NODE:
        raise RemoteProtocolError(f"{hosts[-1]} is not a node number", note_at - 4)
    return hosts, note_at


class Acknowledgement(LinkPayload):
    """Acknowledged messages: (origin, number, status) each."""

    __slots__ = ("entries",)

    def __init__(self, entries: tuple[tuple[int, int, int], ...]) -> None:
        self.entries = entries

    def _fields(self) -> tuple[object, ...]:
        return self.entries

    def encode(self) -> bytes:
        return b"".join([_ENTRY.pack(*entry) for entry in self.entries])

    @staticmethod
    def decode(payload: bytes) -> "Acknowledgement":
        if not payload or len(payload) % _ENTRY.size:
            raise RemoteProtocolError(f"{len(payload)} bytes are not a whole number of entries", len(payload))
        entries = tuple(_ENTRY.iter_unpack(payload))
        for position, (origin, _, status) in enumerate(entries):
            if origin > LAST_NODE:
                raise RemoteProtocolError(f"{origin} is not a node number", position * _ENTRY.size)
            if status not in STATUS_NAMES:
                raise RemoteProtocolError(f"status {status} is not known", position * _ENTRY.size + 8)
        return Acknowledgement(entries)


class Batch(LinkPayload):
    """Messages in one datagram, each with its envelope and without a tag."""

    __slots__ = ("messages",)

    def __init__(self, messages: tuple[bytes, ...]) -> None:
        self.messages = messages

    def _fields(self) -> tuple[object, ...]:
        return self.messages

    def encode(self) -> bytes:
        """Return each message, preceded by its length in two bytes."""
        return b"".join([len(message).to_bytes(2, "big") + message for message in self.messages])

    @staticmethod
    def decode(payload: bytes) -> "Batch":
        """Read two or more messages without decoding them, or raise RemoteProtocolError."""
        messages: list[bytes] = []
        position = 0
        while position < len(payload):
            start = position + 2
            position = start + int.from_bytes(payload[position:start], "big")
            if position > len(payload):
                raise RemoteProtocolError("a batch ends within a message", len(payload))
            messages.append(payload[start:position])
        if len(messages) < 2:
            raise RemoteProtocolError("a batch has two messages or more", len(payload))
        return Batch(tuple(messages))


@dataclass(frozen=True, slots=True)
class Subscribed:
    """SUBSCRIBE, RENEW and INSTALL: for how long the subscription has been in force, and its vector."""

    in_force_ms: int
    vector: bytes

    @property
    def id(self) -> int:
        """Return the id of the subscription at its subscriber."""
        return self.vector[HEADER_ID]

    @property
    def seq(self) -> int:
        return self.vector[HEADER_REVISION]

    @property
    def lifetime_q(self) -> int:
        """Return the lifetime code of the vector; a renewal has another lifetime."""
        return self.vector[HEADER_LIFETIME]

    @classmethod
    def from_subscribe(cls, payload: bytes) -> "Subscribed":
        if len(payload) < BODY_AT:
            raise RemoteProtocolError(
                "a subscription vector starts with id, revision and lifetime", len(payload)
            )
        return cls(0, payload)

    def encode_renew(self) -> bytes:
        """Return the time in force in four bytes, and the vector."""
        return self.in_force_ms.to_bytes(4, "big") + self.vector

    @classmethod
    def from_renew(cls, payload: bytes) -> "Subscribed":
        if len(payload) < 4 + BODY_AT:
            raise RemoteProtocolError("a renewal is four bytes and a subscription vector", len(payload))
        return cls(int.from_bytes(payload[:4], "big"), payload[4:])


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """UNSUBSCRIBE and REMOVE: withdraw a subscription in this revision and all older ones.

    An UNSUBSCRIBE also has the number of ids after its own that the subscription occupied, if any: what was
    installed under them is removed too (dens/overlay/covering/decomposition.py). A mediator may never have
    had the subscription itself.
    """

    id: int
    seq: int
    occupied: int = 0

    def encode(self) -> bytes:
        """Return two bytes, and a third if ids were occupied."""
        payload = bytes((self.id, self.seq))
        return payload + bytes((self.occupied,)) if self.occupied else payload

    @classmethod
    def decode(cls, payload: bytes) -> "Withdrawal":
        if not 2 <= len(payload) <= 3:
            raise RemoteProtocolError(f"a withdrawal has 2 or 3 bytes, here are {len(payload)}", len(payload))
        occupied = payload[2] if len(payload) == 3 else 0
        if len(payload) == 3 and not 1 <= occupied <= 255 - payload[0]:
            raise RemoteProtocolError(f"{occupied} ids after {payload[0]} cannot be occupied", 2)
        return cls(payload[0], payload[1], occupied)


@dataclass(frozen=True, slots=True)
class Receipt:
    """RECEIPT: the origin of the message has this notification."""

    notification: ItemId

    def encode(self) -> bytes:
        return _RECEIPT.pack(self.notification >> NUMBER_BITS, self.notification & NUMBER_MASK)

    @classmethod
    def decode(cls, payload: bytes) -> "Receipt":
        return cls(read_receipt(payload))


def read_receipt(payload: bytes) -> ItemId:
    """Return the notification of a receipt, or raise RemoteProtocolError."""
    if len(payload) != _RECEIPT.size:
        raise RemoteProtocolError(
            f"a receipt has {_RECEIPT.size} bytes, here are {len(payload)}", len(payload)
        )
    origin, number = _RECEIPT.unpack(payload)
    if origin > LAST_NODE:
        raise RemoteProtocolError(f"{origin} is not a node number", 0)
    return item_id(origin, number)


class Satisfied(NamedTuple):
    """A satisfied subscription revision of a known subscriber: the degree, and details of its language (at
    most 255 bytes, opaque to the overlay).
    """

    id: int
    seq: int
    degree_u8: int
    detail: bytes = b""


@dataclass(frozen=True, slots=True)
class Notify:
    """NOTIFY: a notification vector, and the subscriptions of the receiver that it satisfies."""

    satisfied: tuple[Satisfied, ...]
    vector: bytes

    def encode(self) -> bytes:
        """Return a count in two bytes; per subscription id, revision, degree, length of the detail and the
        detail; then the vector.
        """
        entries = [
            bytes((id, seq, degree_u8, len(detail))) + detail for id, seq, degree_u8, detail in self.satisfied
        ]
        return len(entries).to_bytes(2, "big") + b"".join(entries) + self.vector

    @classmethod
    def decode(cls, payload: bytes) -> "Notify":
        count = int.from_bytes(payload[:2], "big")
        if not 1 <= count <= MOST_SATISFIED:
            raise RemoteProtocolError(
                f"a notify names 1 to {MOST_SATISFIED} subscriptions, here are {count}", 0
            )
        satisfied: list[Satisfied] = []
        at = 2
        for _ in range(count):
            begin = at + 4
            end = begin + payload[at + 3] if begin <= len(payload) else begin
            if end > len(payload):
                raise RemoteProtocolError("a notify ends within a subscription", len(payload))
            satisfied.append(Satisfied(payload[at], payload[at + 1], payload[at + 2], payload[begin:end]))
            at = end
        return cls(tuple(satisfied), payload[at:])
