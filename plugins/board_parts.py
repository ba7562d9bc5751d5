"""Parts of subscriptions in the language of boards, for languages that boards do not implement.

Boards filter readings of one byte per attribute, in the vectors of docs/reference/vector-format.md (language
1). A language whose subscriptions are covered by crisp byte ranges builds its parts and reads board
notifications here, without knowing their encoding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.language import BOARD_LANGUAGE_ID, Part
from watchdog.aggregators import AGGREGATOR_NAMES, UNMOVED_BY_ONE
from watchdog.header import NO_HEADER, body_of
from watchdog.vector import (
    HEADER_BYTES,
    attribute_feature_offset,
    check_notification,
    check_subscription,
    constraints_offset,
    event_feature_offset,
    indexes,
)

CRISP: Final = 127
"""Slope of a constraint that holds exactly within its range."""
_STAMP_AND_AGGREGATOR: Final = bytes(3)
"""No creation time; all constraints must hold, to any degree."""


def crisp_part(table: MissionTable, event: int, ranges: Mapping[int, tuple[int, int]]) -> Part:
    """Return the subscription to events of a class in which every one of these attributes lies in its range
    of bytes, ends included. Ranges that are none raise `VectorError`.

    >>> from knowledge_manager.mission_table import load_mission_table
    >>> crisp_part(load_mission_table(["medical"]), 0, {1: (120, 255)}).body.hex()
    '00000078ff7f0102'
    """
    width = table.feature_bytes
    triples = b"".join(bytes((low, high, CRISP)) for _, (low, high) in sorted(ranges.items()))
    feature = sum(1 << attribute for attribute in ranges)
    features = (1 << event).to_bytes(width, "big") + feature.to_bytes(width, "big")
    vector = NO_HEADER + _STAMP_AND_AGGREGATOR + triples + features
    check_subscription(vector, width)
    return Part(BOARD_LANGUAGE_ID, body_of(vector))


@dataclass(frozen=True, slots=True)
class Constrained:
    """Event class and attributes of a subscription in the boards' language, lowest attribute first."""

    event: int
    attributes: tuple[int, ...]
    has_age: bool
    aggregator: str
    needs_all: bool
    """Whether the aggregator ignores a constraint that always holds (minimum and product)."""


def constrained_by(body: bytes, width: int) -> Constrained:
    """Return what a body of the boards' language constrains. Raise `VectorError` for invalid bytes."""
    vector = NO_HEADER + body
    check_subscription(vector, width)
    found = bytearray(8 * width)
    indexes(vector, event_feature_offset(vector, width), width, found)
    event = found[0]
    number = indexes(vector, attribute_feature_offset(vector, width), width, found)
    attributes = tuple(found[:number])
    aggregator = vector[HEADER_BYTES - 1] & 15
    age = 8 * width - 1
    return Constrained(
        event,
        tuple(index for index in attributes if index != age),
        age in attributes,
        AGGREGATOR_NAMES[aggregator],
        bool(UNMOVED_BY_ONE >> aggregator & 1),
    )


def also_carrying(body: bytes, attribute: int, width: int) -> bytes:
    """Return a body that matches the same readings but requires this attribute, by a constraint on all its
    bytes.

    Only valid for aggregators that ignore such a constraint (`Constrained.needs_all`).
    """
    vector = NO_HEADER + body
    known = constrained_by(body, width).attributes
    if attribute in known:
        return body
    at = constraints_offset(vector) + 3 * sum(1 for index in known if index < attribute)
    feature = attribute_feature_offset(vector, width)
    mask = int.from_bytes(vector[feature:], "big") | 1 << attribute
    wider = vector[:at] + bytes((0, 255, CRISP)) + vector[at:feature] + mask.to_bytes(width, "big")
    check_subscription(wider, width)
    return body_of(wider)


def values_of_board(vector: bytes, table: MissionTable) -> tuple[int, dict[int, int]]:
    """Return the event class of a board's notification and the byte of each attribute. Raise `VectorError`
    for invalid bytes.
    """
    return notification_values(vector, table.feature_bytes)


def notification_values(vector: bytes, width: int) -> tuple[int, dict[int, int]]:
    """Return the same for a notification whose features have `width` bytes, without a mission."""
    check_notification(vector, width)
    found = bytearray(8 * width)
    indexes(vector, event_feature_offset(vector, width), width, found)
    event = found[0]
    number = indexes(vector, attribute_feature_offset(vector, width), width, found)
    values = vector[HEADER_BYTES : event_feature_offset(vector, width)]
    return event, dict(zip(found[:number], values, strict=True))
