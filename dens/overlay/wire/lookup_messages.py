"""Payloads of a directory look-up: the question that travels from node to node, and the answer.

Both are link messages: they are valid within a partition, never stored, and repeated by a node that misses an
answer (dens/overlay/session/lookup.py). The question is opaque; only the directory reads it.
"""

from struct import Struct
from typing import Final, NamedTuple

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.codes import LAST_NODE
from dens.overlay.wire.messages import LinkPayload

_LOOKUP: Final = Struct(">IIBH")
_OFFERS: Final = Struct(">IIBBBH")
_ENTRY: Final = Struct(">BH")
OFFERS_BYTES: Final = _OFFERS.size
"""Bytes of an answer before its first offer."""
ENTRY_BYTES: Final = _ENTRY.size
"""Bytes of an offer before its announcement."""
QUESTION_BYTES: Final = 1_024
"""The longest question."""
TIMEOUT_MAX_MS: Final = 65_535
"""The longest timeout of a look-up."""
PARTS_MAX: Final = 255

LATE: Final = 1
"""A queried mediator did not answer in time."""
LOST: Final = 2
"""A contact ended before its answer arrived."""
FAR: Final = 4
"""A mediator was not queried, because the hop limit or the time was used up."""
MUCH: Final = 8
"""There are more offers than fit into an answer."""
BUSY: Final = 16
"""A mediator has too many open look-ups and rejected this one."""
FLAG_WORDS: Final = {LATE: "late", LOST: "lost", FAR: "far", MUCH: "much", BUSY: "busy"}
"""Names of the reasons why an answer is partial."""
_ALL_FLAGS: Final = LATE | LOST | FAR | MUCH | BUSY


class Lookup(LinkPayload):
    """A question. `(asker, number)` identifies the look-up at every node."""

    __slots__ = ("asker", "hops", "number", "question", "timeout_ms")

    def __init__(self, asker: int, number: int, hops: int, timeout_ms: int, question: bytes) -> None:
        self.asker = asker
        self.number = number
        self.hops = hops
        """Mediators that it may still pass after the receiver."""
        self.timeout_ms = timeout_ms
        """How long the sender waits for the answer."""
        self.question = question

    def _fields(self) -> tuple[object, ...]:
        return self.asker, self.number, self.hops, self.timeout_ms, self.question

    def encode(self) -> bytes:
        return _LOOKUP.pack(self.asker, self.number, self.hops, self.timeout_ms) + self.question

    @staticmethod
    def decode(payload: bytes) -> "Lookup":
        """Read a payload without its question, or raise RemoteProtocolError."""
        if not _LOOKUP.size <= len(payload) <= _LOOKUP.size + QUESTION_BYTES:
            raise RemoteProtocolError(
                f"{len(payload)} bytes are not a valid length of a look-up", len(payload)
            )
        asker, number, hops, timeout_ms = _LOOKUP.unpack_from(payload)
        if asker > LAST_NODE:
            raise RemoteProtocolError(f"{asker} is not a node number", 0)
        return Lookup(asker, number, hops, timeout_ms, payload[_LOOKUP.size :])


class OfferEntry(NamedTuple):
    """An announcement: the number of hops from the sender to its publisher (0: not in contact), and the
    message without a tag.
    """

    distance: int
    message: bytes


class Offers(LinkPayload):
    """A part of the answer to a look-up; all parts have the same flags and count of mediators."""

    __slots__ = ("asker", "entries", "flags", "mediators", "number", "part", "parts")

    def __init__(
        self,
        asker: int,
        number: int,
        part: int,
        parts: int,
        flags: int,
        mediators: int,
        entries: tuple[OfferEntry, ...],
    ) -> None:
        self.asker = asker
        self.number = number
        self.part = part
        self.parts = parts
        self.flags = flags
        """Why the answer may be partial; 0 if every mediator in reach has answered."""
        self.mediators = mediators
        """Mediators that have answered, including the sender; 0 if the sender has answered on another path.
        """
        self.entries = entries

    def _fields(self) -> tuple[object, ...]:
        return self.asker, self.number, self.part, self.parts, self.flags, self.mediators, self.entries

    def encode(self) -> bytes:
        """Return thirteen bytes, then per offer: distance, length in two bytes, announcement."""
        head = _OFFERS.pack(self.asker, self.number, self.part, self.parts, self.flags, self.mediators)
        return head + b"".join(
            [_ENTRY.pack(entry.distance, len(entry.message)) + entry.message for entry in self.entries]
        )

    @staticmethod
    def decode(payload: bytes) -> "Offers":
        """Read a payload without its announcements, or raise RemoteProtocolError."""
        if len(payload) < OFFERS_BYTES:
            raise RemoteProtocolError(f"{len(payload)} bytes are not a valid length of offers", len(payload))
        asker, number, part, parts, flags, mediators = _OFFERS.unpack_from(payload)
        if asker > LAST_NODE:
            raise RemoteProtocolError(f"{asker} is not a node number", 0)
        if not part < parts:
            raise RemoteProtocolError(f"part {part} of {parts} is out of range", 8)
        if flags & ~_ALL_FLAGS:
            raise RemoteProtocolError(f"flags {flags} are not known", 10)
        entries: list[OfferEntry] = []
        position = OFFERS_BYTES
        while position < len(payload):
            start = position + ENTRY_BYTES
            if start > len(payload):
                raise RemoteProtocolError("offers end within an offer", len(payload))
            distance, length = _ENTRY.unpack_from(payload, position)
            position = start + length
            if position > len(payload):
                raise RemoteProtocolError("offers end within an announcement", len(payload))
            entries.append(OfferEntry(distance, payload[start:position]))
        return Offers(asker, number, part, parts, flags, mediators, tuple(entries))
