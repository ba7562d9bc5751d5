"""The extract of a local data dictionary: what a node can measure, in a few bytes.

| offset | bytes | field |
| --- | --- | --- |
| 0 | 1 | high nibble: 1, the layout's version; low nibble: 0, 1, 2, 3 for features of 1, 2, 4, 8 bytes |
| 1 | 4 | counter: which of this node's extracts is newer |
| 5 | 1 | lifetime code q: valid for ⌊2^(q/8)⌋ seconds after it was made |
| 6 | 1 | number of sources, 0..255; 0 withdraws all offers |
| 7 | 3 + F each | event index, attribute feature, protocol code, content type code |

Sources are sorted by their bytes, without duplicates, so that equal dictionaries give equal extracts. An
extract with one source has 11 bytes. Extracts are untrusted input: the decoder accepts exactly the
well-formed ones and raises `ExtractError` for everything else.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from knowledge_manager.mission_table import MissionTable
from watchdog.lifetime import lifetime_s
from watchdog.vector import VectorError

LAYOUT_VERSION: Final = 1
HEADER_BYTES: Final = 7
LARGEST_COUNTER: Final = (1 << 32) - 1
MOST_SOURCES: Final = 255
FEATURE_SIZES: Final = (1, 2, 4, 8)

PROTOCOLS: Final[tuple[str, ...]] = ("", "memory", "file", "pin", "i2c", "adc", "spi", "serial")
"""How a source is read, by code; code 0 is unspecified."""

CONTENT_TYPES: Final[tuple[str, ...]] = (
    "",
    "application/octet-stream",
    "text/csv",
    "application/json",
    "text/turtle",
    "application/rdf+xml",
)
"""What a source yields, by code; code 0 is unspecified."""


class ExtractError(VectorError):
    """Bytes that are not a valid extract. The message names the offset."""


@dataclass(frozen=True, slots=True, order=True)
class OfferedSource:
    """One source of one event class: the mask of the attributes it fills, and how it is read."""

    event: int
    attributes: int
    protocol: int = 0
    content_type: int = 0

    def fills(self, attributes: int) -> bool:
        """Return whether the source measures all attributes of this mask."""
        return attributes & ~self.attributes == 0


@dataclass(frozen=True, slots=True)
class Extract:
    """The sources of a node, as of its counter."""

    counter: int
    lifetime_q: int
    feature_bytes: int
    sources: tuple[OfferedSource, ...]

    @property
    def lifetime_ms(self) -> int:
        return lifetime_s(self.lifetime_q) * 1000

    def encode(self) -> bytes:
        """Return the bytes; a value that does not fit the layout raises `ExtractError`."""
        size = self.feature_bytes
        if size not in FEATURE_SIZES:
            raise ExtractError(0, f"feature size {size} is not 1, 2, 4 or 8 bytes")
        if not 0 <= self.counter <= LARGEST_COUNTER:
            raise ExtractError(1, f"counter {self.counter} does not fit into four bytes")
        if not 0 <= self.lifetime_q <= 255:
            raise ExtractError(5, f"lifetime code {self.lifetime_q} is outside 0..255")
        if len(self.sources) > MOST_SOURCES:
            raise ExtractError(6, f"{len(self.sources)} sources; the maximum is {MOST_SOURCES}")
        head = (
            bytes([LAYOUT_VERSION << 4 | FEATURE_SIZES.index(size)])
            + self.counter.to_bytes(4, "big")
            + bytes([self.lifetime_q, len(self.sources)])
        )
        content = head + b"".join(_encoded(source, size) for source in sorted(self.sources))
        decode_extract(content)
        return content


def _encoded(source: OfferedSource, feature_bytes: int) -> bytes:
    try:
        mask = source.attributes.to_bytes(feature_bytes, "big")
        return bytes([source.event]) + mask + bytes([source.protocol, source.content_type])
    except (OverflowError, ValueError):
        raise ExtractError(HEADER_BYTES, f"{source} does not fit the layout") from None


def decode_extract(content: bytes, table: MissionTable | None = None) -> Extract:
    """Return the extract, or raise `ExtractError`. With a table, unknown events and attributes are rejected
    too.
    """
    if len(content) < HEADER_BYTES:
        raise ExtractError(len(content), f"an extract has at least {HEADER_BYTES} bytes")
    if content[0] >> 4 != LAYOUT_VERSION:
        raise ExtractError(0, f"layout version {content[0] >> 4} is not supported; expected {LAYOUT_VERSION}")
    if content[0] & 15 >= len(FEATURE_SIZES):
        raise ExtractError(0, f"feature size code {content[0] & 15} is outside 0..3")
    size = FEATURE_SIZES[content[0] & 15]
    if table is not None and table.feature_bytes != size:
        raise ExtractError(0, f"features of {size} bytes; the mission table has {table.feature_bytes}")
    step = 3 + size
    end = HEADER_BYTES + step * content[6]
    if len(content) != end:
        raise ExtractError(
            min(len(content), end), f"{content[6]} sources need {end} bytes, not {len(content)}"
        )
    sources: list[OfferedSource] = []
    before = b""
    for at in range(HEADER_BYTES, end, step):
        entry = content[at : at + step]
        if entry <= before:
            raise ExtractError(at, "sources are not in ascending order without duplicates")
        before = entry
        sources.append(_source(entry, at, size))
        if table is not None:
            _check_with_table(sources[-1], at, table)
    return Extract(int.from_bytes(content[1:5], "big"), content[5], size, tuple(sources))


def _source(entry: bytes, at: int, size: int) -> OfferedSource:
    event, mask = entry[0], int.from_bytes(entry[1 : 1 + size], "big")
    if event >= 8 * size:
        raise ExtractError(at, f"event index {event} has no bit in a feature of {size} bytes")
    if mask == 0:
        raise ExtractError(at + 1, "a source measures at least one attribute")
    if mask >> (8 * size - 1):
        raise ExtractError(at + 1, "the highest attribute is reserved for an event's age")
    if entry[1 + size] >= len(PROTOCOLS):
        raise ExtractError(at + 1 + size, f"protocol code {entry[1 + size]} is unknown")
    if entry[2 + size] >= len(CONTENT_TYPES):
        raise ExtractError(at + 2 + size, f"content type code {entry[2 + size]} is unknown")
    return OfferedSource(event, mask, entry[1 + size], entry[2 + size])


def _check_with_table(source: OfferedSource, at: int, table: MissionTable) -> None:
    known = {event.index: event for event in table.source_classes}
    if source.event not in known:
        raise ExtractError(at, f"event index {source.event} is not in the mission table")
    measured = mask_of(attribute.index for attribute in known[source.event].attributes)
    if source.attributes & ~measured:
        raise ExtractError(at + 1, f"{known[source.event].name} has no such attributes")


def mask_of(indexes: Iterable[int]) -> int:
    """Return the feature with exactly these bits set."""
    mask = 0
    for index in indexes:
        mask |= 1 << index
    return mask


def indexes_of(mask: int) -> tuple[int, ...]:
    """Return the set bits of a feature, lowest first."""
    return tuple(index for index in range(mask.bit_length()) if mask >> index & 1)
