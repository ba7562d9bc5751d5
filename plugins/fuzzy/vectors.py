"""Decoded subscription and notification vectors.

`watchdog.vector`, which every runtime shares, defines the valid bytes; here the parts get names, so that
compilers, explainers and matchers need no offsets.
"""

from dataclasses import dataclass
from typing import Final

from watchdog.aggregators import has_block
from watchdog.vector import (
    HEADER_BYTES,
    attribute_feature_offset,
    block_bytes,
    check_notification,
    check_subscription,
    constraints_offset,
    event_feature_offset,
    indexes,
)

FEATURE_CONDITIONS: Final = ("subset", "exact")
"""`subset`: a notification serves every subscription whose attributes it contains; `exact`: the same
attributes."""

Triple = tuple[int, int, int]
"""(v, V, g): degree 1 on [v, V], falling outside with slope code g & 127, complemented by g & 128."""


@dataclass(frozen=True, slots=True)
class SubscriptionVector:
    """The parts of a subscription. `attributes` and `constraints` are parallel, lowest index first."""

    id: int
    seq: int
    valid: int
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


def encode_subscription(parts: SubscriptionVector) -> bytes:
    """Return the vector's bytes. Inconsistent parts raise `VectorError`."""
    header = bytes([parts.id, parts.seq, parts.valid]) + parts.stamp_s.to_bytes(2, "big")
    header += bytes([parts.threshold << 4 | parts.aggregator])
    block = bytes([len(parts.block)]) + parts.block if has_block(parts.aggregator) else b""
    triples = b"".join(bytes(triple) for triple in parts.constraints)
    vector = header + block + triples + _features(parts.event, parts.attributes, parts.feature_bytes)
    check_subscription(vector, parts.feature_bytes)
    return vector


def decode_subscription(vector: bytes, feature_bytes: int = 1) -> SubscriptionVector:
    """Return the parts of well-formed bytes, or raise `VectorError`."""
    check_subscription(vector, feature_bytes)
    start = constraints_offset(vector)
    end = event_feature_offset(vector, feature_bytes)
    triples = tuple((vector[at], vector[at + 1], vector[at + 2]) for at in range(start, end, 3))
    event, attributes = _features_of(vector, feature_bytes)
    return SubscriptionVector(
        id=vector[0],
        seq=vector[1],
        valid=vector[2],
        stamp_s=int.from_bytes(vector[3:5], "big"),
        threshold=vector[5] >> 4,
        aggregator=vector[5] & 15,
        block=vector[HEADER_BYTES + 1 : start] if block_bytes(vector) else b"",
        constraints=triples,
        event=event,
        attributes=attributes,
        feature_bytes=feature_bytes,
    )


def encode_notification(parts: NotificationVector) -> bytes:
    """Return the vector's bytes. Inconsistent parts raise `VectorError`."""
    header = parts.number.to_bytes(2, "big") + bytes([parts.valid]) + parts.stamp_s.to_bytes(2, "big")
    features = _features(parts.event, parts.attributes, parts.feature_bytes)
    vector = header + bytes([parts.degree << 4]) + parts.values + features
    check_notification(vector, parts.feature_bytes)
    return vector


def decode_notification(vector: bytes, feature_bytes: int = 1) -> NotificationVector:
    """Return the parts of well-formed bytes, or raise `VectorError`."""
    check_notification(vector, feature_bytes)
    event, attributes = _features_of(vector, feature_bytes)
    return NotificationVector(
        number=int.from_bytes(vector[0:2], "big"),
        valid=vector[2],
        stamp_s=int.from_bytes(vector[3:5], "big"),
        degree=vector[5] >> 4,
        values=vector[HEADER_BYTES : event_feature_offset(vector, feature_bytes)],
        event=event,
        attributes=attributes,
        feature_bytes=feature_bytes,
    )


def _features(event: int, attributes: tuple[int, ...], feature_bytes: int) -> bytes:
    mask = sum(1 << index for index in attributes)
    return (1 << event).to_bytes(feature_bytes, "big") + mask.to_bytes(feature_bytes, "big")


def _features_of(vector: bytes, feature_bytes: int) -> tuple[int, tuple[int, ...]]:
    out = bytearray(8 * feature_bytes)
    indexes(vector, event_feature_offset(vector, feature_bytes), feature_bytes, out)
    event = out[0]
    n = indexes(vector, attribute_feature_offset(vector, feature_bytes), feature_bytes, out)
    return event, tuple(out[:n])
