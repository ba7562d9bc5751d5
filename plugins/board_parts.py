"""Parts of subscriptions in the language of boards, for languages that boards do not implement.

Boards filter readings of one byte per attribute, in the vectors of docs/reference/vector-format.md (language
1). A language whose subscriptions are covered by crisp byte ranges builds its parts and reads board
notifications here, without knowing their encoding.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import SubscriptionBody, decode_body, decode_notification, encode_body
from plugins.language import BOARD_LANGUAGE_ID, Part
from watchdog.aggregators import AGGREGATOR_NAMES, MIN, UNMOVED_BY_ONE

CRISP: Final = 127
"""Slope of a constraint that holds exactly within its range."""
_EVERY_BYTE: Final = (0, 255, CRISP)


def crisp_part(table: MissionTable, event: int, ranges: Mapping[int, tuple[int, int]]) -> Part:
    """Return the subscription to events of a class in which every one of these attributes lies in its range
    of bytes, ends included. Ranges that are none raise `VectorError`.

    >>> from knowledge_manager.mission_table import load_mission_table
    >>> crisp_part(load_mission_table(["medical"]), 0, {1: (120, 255)}).body.hex()
    '00000078ff7f0102'
    """
    parts = SubscriptionBody(
        stamp_s=0,
        threshold=0,
        aggregator=MIN,
        block=b"",
        constraints=tuple((low, high, CRISP) for _, (low, high) in sorted(ranges.items())),
        event=event,
        attributes=tuple(sorted(ranges)),
        feature_bytes=table.feature_bytes,
    )
    return Part(BOARD_LANGUAGE_ID, encode_body(parts))


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
    parts = decode_body(body, width)
    age = 8 * width - 1
    return Constrained(
        parts.event,
        tuple(index for index in parts.attributes if index != age),
        age in parts.attributes,
        AGGREGATOR_NAMES[parts.aggregator],
        bool(UNMOVED_BY_ONE >> parts.aggregator & 1),
    )


def also_carrying(body: bytes, attribute: int, width: int) -> bytes:
    """Return a body that matches the same readings but requires this attribute, by a constraint on all its
    bytes.

    Only valid for aggregators that ignore such a constraint (`Constrained.needs_all`).
    """
    parts = decode_body(body, width)
    if attribute in parts.attributes:
        return body
    constraints = dict(zip(parts.attributes, parts.constraints, strict=True)) | {attribute: _EVERY_BYTE}
    attributes = tuple(sorted(constraints))
    triples = tuple(constraints[index] for index in attributes)
    return encode_body(replace(parts, attributes=attributes, constraints=triples))


def values_of_board(vector: bytes, table: MissionTable) -> tuple[int, dict[int, int]]:
    """Return the event class of a board's notification and the byte of each attribute. Raise `VectorError`
    for invalid bytes.
    """
    return notification_values(vector, table.feature_bytes)


def notification_values(vector: bytes, width: int) -> tuple[int, dict[int, int]]:
    """Return the same for a notification whose features have `width` bytes, without a mission."""
    parts = decode_notification(vector, width)
    return parts.event, dict(zip(parts.attributes, parts.values, strict=True))
