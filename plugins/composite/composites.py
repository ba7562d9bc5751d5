"""Encoding of a composite, the notification of this language: the match, its subscription, and its witness.

    number (2)  keep (1)  stamp (2)      of the last event; of a prediction: of the event that opened it
    degree // 17 in the high nibble, kind in the low one
    subscriber  id (1)  revision (1)     an origin has two bytes, or four with the top bit set
    source      event class (1)          bit 6: every match has its own result; bit 7: quiet, and then
                [code (1)  key size (1)  key]
    witness entries w in the low nibble, bits 4–5 the width of features (1, 2, 4, 8 bytes)
    kinds 2–5:  opening number (2)  opening stamp (2)  β  flags  left (1)  [class (1)]  [key size (1)  key]
                flags: bit 0 time, bit 1 live model, bit 2 the opening event's class follows, bit 3 a key
    w entries:  leaf (1; bit 7: a source follows)  number (2)  seconds before (2)  attributes  values

It contains everything that distinguishes two results, so that they can be compared without the subscription
and the mission table.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from plugins.composite.bounds import MOST_KEYS, MOST_LEAVES
from watchdog.vector import VectorError, cardinality, indexes

MATCH, PREDICTED, CONFIRMED, WITHDRAWN, LAPSED = range(1, 6)
KINDS: Final = {
    MATCH: "match",
    PREDICTED: "prediction",
    CONFIRMED: "match that confirms",
    WITHDRAWN: "withdrawn",
    LAPSED: "lapsed",
}
_LONG_ORIGIN: Final = 0x8000_0000
_SHORT_ORIGINS: Final = 0x8000
_EACH, _QUIET = 0x40, 0x80
_OTHER_SOURCE: Final = 0x80
_LAST_CLASS: Final = 63
_HEADER_BYTES: Final = 6
_BY_TIME, _IS_LIVE, _OTHER_CLASS, _HAS_KEY = 1, 2, 4, 8


class WitnessEntry:
    """One event of a witness: its leaf, its number, how long before the last event it happened, and the bytes
    of its attributes, lowest index first. `source` is None if it is that of the last event.
    """

    __slots__ = ("attributes", "leaf", "number", "seconds_before", "source", "values")

    def __init__(
        self,
        leaf: int,
        number: int,
        seconds_before: int,
        attributes: tuple[int, ...],
        values: bytes,
        source: int | None = None,
    ) -> None:
        self.leaf = leaf
        self.number = number
        self.seconds_before = seconds_before
        self.attributes = attributes
        self.values = values
        self.source = source


@dataclass(frozen=True, slots=True)
class Opening:
    """The reading that opened a prediction, its probability (of 255), and the rest of the horizon, in
    readings or as an encoded lifetime. At most one prediction is open per key.
    """

    event: int
    number: int
    stamp_s: int
    beta: int
    is_by_time: bool
    is_live: bool
    left: int
    key: bytes = b""


class Composite:
    """A decoded composite. `quiet` is the code and the key of a bucket; `is_each` is set if every match of an
    end is a separate result.
    """

    __slots__ = (
        "degree",
        "event",
        "id",
        "is_each",
        "keep_q",
        "kind",
        "number",
        "opening",
        "quiet",
        "revision",
        "source",
        "stamp_s",
        "subscriber",
        "witness",
    )

    def __init__(
        self,
        number: int,
        keep_q: int,
        stamp_s: int,
        degree: int,
        kind: int,
        subscriber: int,
        id: int,
        revision: int,
        source: int,
        event: int,
        witness: list[WitnessEntry],
        opening: Opening | None = None,
        quiet: tuple[int, bytes] | None = None,
        is_each: bool = False,
    ) -> None:
        self.number = number
        self.keep_q = keep_q
        self.stamp_s = stamp_s
        self.degree = degree
        self.kind = kind
        self.subscriber = subscriber
        self.id = id
        self.revision = revision
        self.source = source
        self.event = event
        self.witness = witness
        self.opening = opening
        self.quiet = quiet
        self.is_each = is_each


def encode_composite(parts: Composite, feature_bytes: int) -> bytes:
    """Return the bytes of a composite, without checks."""
    number, stamp_s = parts.number, parts.stamp_s
    out = [number >> 8, number & 255, parts.keep_q, stamp_s >> 8, stamp_s & 255]
    out.append(parts.degree << 4 | parts.kind)
    _put_origin(out, parts.subscriber)
    out.append(parts.id)
    out.append(parts.revision)
    _put_origin(out, parts.source)
    quiet = parts.quiet
    out.append(parts.event | (_EACH if parts.is_each else 0) | (0 if quiet is None else _QUIET))
    if quiet is not None:
        out += (quiet[0], len(quiet[1]), *quiet[1])
    out.append(len(parts.witness) | (feature_bytes.bit_length() - 1) << 4)
    if parts.opening is not None:
        _put_opening(out, parts.opening, parts.event)
    for entry in parts.witness:
        _put_entry(out, entry, feature_bytes)
    return bytes(out)


def _put_origin(out: list[int], number: int) -> None:
    if number >= _SHORT_ORIGINS:
        number |= _LONG_ORIGIN
        out.append(number >> 24)
        out.append(number >> 16 & 255)
    out.append(number >> 8 & 255)
    out.append(number & 255)


def _put_opening(out: list[int], opening: Opening, event: int) -> None:
    is_other, key = opening.event != event, opening.key
    flags = opening.is_by_time * _BY_TIME | opening.is_live * _IS_LIVE
    flags |= is_other * _OTHER_CLASS | bool(key) * _HAS_KEY
    out += opening.number.to_bytes(2, "big") + opening.stamp_s.to_bytes(2, "big")
    out += (opening.beta, flags, opening.left)
    if is_other:
        out.append(opening.event)
    if key:
        out += (len(key), *key)


def _put_entry(out: list[int], entry: WitnessEntry, feature_bytes: int) -> None:
    if entry.source is None:
        out.append(entry.leaf)
    else:
        out.append(entry.leaf | _OTHER_SOURCE)
        _put_origin(out, entry.source)
    number, before = entry.number, entry.seconds_before
    out += [number >> 8, number & 255, before >> 8, before & 255]
    out += _feature(entry.attributes, feature_bytes)
    out += entry.values


@lru_cache(maxsize=1024)
def _feature(attributes: tuple[int, ...], feature_bytes: int) -> bytes:
    return sum(1 << index for index in attributes).to_bytes(feature_bytes, "big")


class _Front:
    """Reads bytes of a composite from the front."""

    def __init__(self, vector: bytes) -> None:
        self.vector = vector
        self.at = 0

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def take(self, count: int) -> bytes:
        found = self.vector[self.at : self.at + count]
        if len(found) < count:
            raise VectorError(len(self.vector), "composite is cut off")
        self.at += count
        return found

    def origin(self) -> int:
        at = self.at
        if at < len(self.vector) and not self.vector[at] & 128:
            return self.number(2)
        found = self.number(4) & ~_LONG_ORIGIN
        if found < _SHORT_ORIGINS:
            raise VectorError(at, "an origin below 32768 has two bytes")
        return found


def decode_composite(vector: bytes) -> Composite:
    """Return the parts of a composite. Invalid bytes raise `VectorError`."""
    given = _Front(vector)
    number, keep_q, stamp_s = given.number(2), given.number(1), given.number(2)
    degree, kind = divmod(given.number(1), 16)
    if kind not in KINDS:
        raise VectorError(_HEADER_BYTES - 1, f"unknown kind {kind}")
    subscriber, id, revision = given.origin(), given.number(1), given.number(1)
    source, event = given.origin(), given.number(1)
    quiet = None
    if event & _QUIET:
        at = given.at
        code, size = given.number(1), given.number(1)
        if event & _EACH or not code or size > MOST_KEYS:
            raise VectorError(at, "a bucket has a code, a key of at most four bytes, and one result")
        quiet = code, given.take(size)
    counts = given.number(1)
    if counts >> 6 or not (counts & 15 or kind in (WITHDRAWN, LAPSED)):
        raise VectorError(given.at - 1, "a witness has events, and features of 1, 2, 4 or 8 bytes")
    opening = None if kind == MATCH else _read_opening(given, event & _LAST_CLASS)
    width = 1 << (counts >> 4)
    witness: list[WitnessEntry] = []
    for _ in range(counts & 15):
        at = given.at
        entry = _read_entry(given, width, source)
        if witness and witness[-1].leaf >= entry.leaf:
            raise VectorError(at, "leaves of a witness are not in ascending order")
        witness.append(entry)
    if given.at != len(vector):
        raise VectorError(given.at, f"{len(vector) - given.at} trailing bytes after the witness")
    return Composite(
        number,
        keep_q,
        stamp_s,
        degree,
        kind,
        subscriber,
        id,
        revision,
        source,
        event & _LAST_CLASS,
        witness,
        opening,
        quiet,
        bool(event & _EACH),
    )


def _read_opening(given: _Front, last_event: int) -> Opening:
    number, stamp_s, beta, flags, left = (given.number(size) for size in (2, 2, 1, 1, 1))
    at = given.at
    if flags >= 2 * _HAS_KEY:
        raise VectorError(at - 2, "a prediction has four flags")
    event = given.number(1) if flags & _OTHER_CLASS else last_event
    if event > _LAST_CLASS or (flags & _OTHER_CLASS and event == last_event):
        raise VectorError(at, "the class of the opening event is present only if it is another one")
    size = given.number(1) if flags & _HAS_KEY else 0
    if size > MOST_KEYS or (flags & _HAS_KEY and not size):
        raise VectorError(given.at - 1, "a key has one to four bytes")
    key = given.take(size)
    return Opening(event, number, stamp_s, beta, bool(flags & _BY_TIME), bool(flags & _IS_LIVE), left, key)


def _read_entry(given: _Front, width: int, last_source: int) -> WitnessEntry:
    at = given.at
    leaf = given.number(1)
    source = given.origin() if leaf & _OTHER_SOURCE else None
    if leaf & ~_OTHER_SOURCE >= MOST_LEAVES or source == last_source:
        raise VectorError(at, "unknown leaf, or a source that is the last event's")
    number, seconds_before = given.number(2), given.number(2)
    at = given.at
    feature = given.take(width)
    if feature[0] & 128:
        raise VectorError(at, "an event does not carry its age")
    if not cardinality(feature, 0, width):
        raise VectorError(at, "an event of a witness has no attributes")
    found = bytearray(8 * width)
    count = indexes(feature, 0, width, found)
    return WitnessEntry(
        leaf & ~_OTHER_SOURCE, number, seconds_before, tuple(found[:count]), given.take(count), source
    )
