"""The payloads of a look-up: the question that goes from node to node, and what comes back.

Both are link messages: they mean something while the partition is there, are never stored, and are said again
by whoever misses an answer (dens/overlay/session/lookup.py). What the question says is the directory's own
business.
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
"""What an answer takes before its first offer."""
ENTRY_BYTES: Final = _ENTRY.size
"""What an offer takes before its announcement."""
QUESTION_BYTES: Final = 1_024
"""The longest question."""
TIMEOUT_MAX_MS: Final = 65_535
"""The longest time that anybody can be asked to take for an answer."""
PARTS_MAX: Final = 255

LATE: Final = 1
"""Somebody who was asked did not answer in time."""
LOST: Final = 2
"""A contact ended before its answer was here."""
FAR: Final = 4
"""Somebody was not asked, because the hop limit or the time was used up."""
MUCH: Final = 8
"""There are more offers than an answer may have."""
BUSY: Final = 16
"""Somebody has too many look-ups to answer, and was not able to take this one."""
FLAG_WORDS: Final = {LATE: "late", LOST: "lost", FAR: "far", MUCH: "much", BUSY: "busy"}
"""Why an answer is partial: the words for people and programs."""
_ALL_FLAGS: Final = LATE | LOST | FAR | MUCH | BUSY


class Lookup(LinkPayload):
    """Who offers this? `(asker, number)` names the look-up, wherever it goes."""

    __slots__ = ("asker", "hops", "number", "question", "timeout_ms")

    def __init__(self, asker: int, number: int, hops: int, timeout_ms: int, question: bytes) -> None:
        self.asker = asker
        self.number = number
        self.hops = hops
        """Over how many mediators more it may go after the one that is asked."""
        self.timeout_ms = timeout_ms
        """How long whoever asks waits for the answer."""
        self.question = question

    def _fields(self) -> tuple[object, ...]:
        return self.asker, self.number, self.hops, self.timeout_ms, self.question

    def encode(self) -> bytes:
        """Return eleven bytes and the question."""
        return _LOOKUP.pack(self.asker, self.number, self.hops, self.timeout_ms) + self.question

    @staticmethod
    def decode(payload: bytes) -> "Lookup":
        """Read one, without looking into the question; or raise RemoteProtocolError."""
        if not _LOOKUP.size <= len(payload) <= _LOOKUP.size + QUESTION_BYTES:
            raise RemoteProtocolError(f"{len(payload)} bytes are no length for a look-up", len(payload))
        asker, number, hops, timeout_ms = _LOOKUP.unpack_from(payload)
        if asker > LAST_NODE:
            raise RemoteProtocolError(f"{asker} is no node", 0)
        return Lookup(asker, number, hops, timeout_ms, payload[_LOOKUP.size :])


class OfferEntry(NamedTuple):
    """One announcement as it is told again: over how many hops its publisher is in contact with whoever
    tells it (0: it is only heard of), and the message without a tag.
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
        """Why there may be more than is said; 0 where everybody in reach has answered."""
        self.mediators = mediators
        """How many have answered, the one that says it included; 0 where it has answered another way."""
        self.entries = entries

    def _fields(self) -> tuple[object, ...]:
        return self.asker, self.number, self.part, self.parts, self.flags, self.mediators, self.entries

    def encode(self) -> bytes:
        """Return thirteen bytes, and each offer as distance, length in two bytes, announcement."""
        head = _OFFERS.pack(self.asker, self.number, self.part, self.parts, self.flags, self.mediators)
        return head + b"".join(
            [_ENTRY.pack(entry.distance, len(entry.message)) + entry.message for entry in self.entries]
        )

    @staticmethod
    def decode(payload: bytes) -> "Offers":
        """Read one, without looking into the announcements; or raise RemoteProtocolError."""
        if len(payload) < OFFERS_BYTES:
            raise RemoteProtocolError(f"{len(payload)} bytes are no length for offers", len(payload))
        asker, number, part, parts, flags, mediators = _OFFERS.unpack_from(payload)
        if asker > LAST_NODE:
            raise RemoteProtocolError(f"{asker} is no node", 0)
        if not part < parts:
            raise RemoteProtocolError(f"there is no part {part} of {parts}", 8)
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
