"""Encoding of the boards' language, number 1 (docs/reference/vector-format.md), as two codec tables.

`watchdog.vector`, which every runtime shares, defines the valid bytes. It reads whole vectors; the overlay
hands out bodies, without the three bytes of its header. The difference is handled here, and nowhere else.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from plugins.codec_table import FEATURE, CodecTable, Field, Width, read_bytes, read_number
from watchdog.aggregators import has_block
from watchdog.header import BODY_AT, NO_HEADER, body_of
from watchdog.vector import HEADER_BYTES, VectorError, check_notification, check_subscription

Triple = tuple[int, int, int]
"""(v, V, g): degree 1 on [v, V], falling outside with slope code g & 127, complemented by g & 128."""

AGGREGATOR_AT: Final = HEADER_BYTES - 1 - BODY_AT
"""Offset in a body of the byte with threshold and aggregator; what follows it, `watchdog.score` reads."""

_REMEMBERED: Final = 1 << 12
"""Decoded bodies that are kept. A node needs those of one subscription within moments: look-up, matcher,
relations and filter each decode it.
"""

_BITS: Final = tuple(tuple(index for index in range(8) if byte >> index & 1) for byte in range(256))


@dataclass(frozen=True, slots=True)
class SubscriptionBody:
    """The parts of a subscription. `attributes` and `constraints` are parallel, lowest index first."""

    stamp_s: int
    threshold: int
    aggregator: int
    block: bytes
    constraints: tuple[Triple, ...]
    event: int
    attributes: tuple[int, ...]
    feature_bytes: int = 1


@dataclass(frozen=True, slots=True)
class NotificationVector:
    """The parts of a notification: `values` has one normalised byte per attribute, lowest index first."""

    number: int
    valid: int
    stamp_s: int
    degree: int
    values: bytes
    event: int
    attributes: tuple[int, ...]
    feature_bytes: int = 1


def _block_width(body: bytes, at: int, feature_bytes: int) -> int:
    return 1 + body[at] if has_block(body[at - 1] & 15) else 0


def _up_to_features(data: bytes, at: int, feature_bytes: int) -> int:
    return len(data) - 2 * feature_bytes - at


def _threes(data: bytes) -> list[bytes]:
    return [data[at : at + 3] for at in range(0, len(data), 3)]


def _ones(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def _read_triples(data: bytes) -> tuple[tuple[Triple, ...]]:
    return (tuple(zip(data[::3], data[1::3], data[2::3], strict=True)),)


def _read_event(data: bytes) -> tuple[int]:
    return (int.from_bytes(data, "big").bit_length() - 1,)


def _read_attributes(data: bytes) -> tuple[tuple[int, ...]]:
    if len(data) == 1:
        return (_BITS[data[0]],)
    last = len(data) - 1
    return (tuple(8 * (last - at) + bit for at in range(last, -1, -1) for bit in _BITS[data[at]]),)


def _write_event(parts: SubscriptionBody | NotificationVector) -> bytes:
    return (1 << parts.event).to_bytes(parts.feature_bytes, "big")


def _write_attributes(parts: SubscriptionBody | NotificationVector) -> bytes:
    return sum(1 << index for index in parts.attributes).to_bytes(parts.feature_bytes, "big")


def _write_stamp(parts: SubscriptionBody | NotificationVector) -> bytes:
    return parts.stamp_s.to_bytes(2, "big")


SUBSCRIPTION: Final[CodecTable[SubscriptionBody]] = CodecTable(
    SubscriptionBody,
    Field("stamp", 2, ("stamp_s",), read_number, _write_stamp),
    Field(
        "threshold, aggregator",
        1,
        ("threshold", "aggregator"),
        lambda data: (data[0] >> 4, data[0] & 15),
        lambda parts: bytes((parts.threshold << 4 | parts.aggregator,)),
    ),
    Field(
        "pattern block",
        Width("P", _block_width),
        ("block",),
        lambda data: (data[1:],),
        lambda parts: bytes((len(parts.block),)) + parts.block if has_block(parts.aggregator) else b"",
    ),
    Field(
        "constraint",
        Width("3k", _up_to_features),
        ("constraints",),
        _read_triples,
        lambda parts: b"".join(map(bytes, parts.constraints)),
        elements=_threes,
    ),
    Field("event feature", FEATURE, ("event",), _read_event, _write_event),
    Field("attribute feature", FEATURE, ("attributes",), _read_attributes, _write_attributes),
)
"""The body of a subscription."""

NOTIFICATION: Final[CodecTable[NotificationVector]] = CodecTable(
    NotificationVector,
    Field("event number", 2, ("number",), read_number, lambda parts: parts.number.to_bytes(2, "big")),
    Field("valid", 1, ("valid",), read_number, lambda parts: bytes((parts.valid,))),
    Field("stamp", 2, ("stamp_s",), read_number, _write_stamp),
    Field("degree", 1, ("degree",), lambda data: (data[0] >> 4,), lambda parts: bytes((parts.degree << 4,))),
    Field(
        "value",
        Width("k", _up_to_features),
        ("values",),
        read_bytes,
        lambda parts: parts.values,
        elements=_ones,
    ),
    Field("event feature", FEATURE, ("event",), _read_event, _write_event),
    Field("attribute feature", FEATURE, ("attributes",), _read_attributes, _write_attributes),
)
"""A whole notification: its first three bytes are the overlay's too, but it travels with them."""


def encode_body(parts: SubscriptionBody) -> bytes:
    """Return the body of a subscription. Inconsistent parts raise `VectorError`."""
    body = SUBSCRIPTION.encode(parts)
    check_subscription(NO_HEADER + body, parts.feature_bytes)
    return body


@lru_cache(_REMEMBERED)
def decode_body(body: bytes, feature_bytes: int = 1) -> SubscriptionBody:
    """Return the parts of a well-formed body, or raise `VectorError`, with offsets of the whole vector.

    A node decodes a subscription once: the parts are immutable, and the last ones are kept.
    """
    check_subscription(NO_HEADER + body, feature_bytes)
    return SUBSCRIPTION.decode(body, feature_bytes, feature_bytes)


def subscription_body(vector: bytes) -> bytes:
    """Return the body of a whole vector. Raise `VectorError` if it has no header."""
    if len(vector) < BODY_AT:
        raise VectorError(len(vector), "too short for a subscription")
    return body_of(vector)


def encode_notification(parts: NotificationVector) -> bytes:
    """Return the vector of a notification. Inconsistent parts raise `VectorError`."""
    vector = NOTIFICATION.encode(parts)
    check_notification(vector, parts.feature_bytes)
    return vector


def decode_notification(vector: bytes, feature_bytes: int = 1) -> NotificationVector:
    """Return the parts of well-formed bytes, or raise `VectorError`."""
    check_notification(vector, feature_bytes)
    return NOTIFICATION.decode(vector, feature_bytes, feature_bytes)
