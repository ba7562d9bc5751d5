"""Parts that every board understands, for languages that boards do not know.

Boards filter readings of one byte an attribute, in the vectors of docs/vector-format.md (language 1). A
language whose subscriptions can be let through by crisp ranges of bytes makes its parts here, and reads what
comes back here, without knowing how boards spell them.
"""

from collections.abc import Mapping
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.language import Part
from watchdog.header import NO_HEADER, body_of
from watchdog.vector import (
    HEADER_BYTES,
    attribute_feature_offset,
    check_notification,
    check_subscription,
    event_feature_offset,
    indexes,
)

BOARD_LANGUAGE_ID: Final = 1
CRISP: Final = 127
"""The slope of a constraint that holds within its range and nowhere else."""
_STAMP_AND_AGGREGATOR: Final = bytes(3)
"""Written at no particular time; all constraints must hold, to any degree."""


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


def told_by_board(vector: bytes, table: MissionTable) -> tuple[int, dict[int, int]]:
    """Return the event class of a board's notification and the byte of each attribute that it tells; bytes
    that are none raise `VectorError`.
    """
    width = table.feature_bytes
    check_notification(vector, width)
    found = bytearray(8 * width)
    indexes(vector, event_feature_offset(vector, width), width, found)
    event = found[0]
    number = indexes(vector, attribute_feature_offset(vector, width), width, found)
    values = vector[HEADER_BYTES : event_feature_offset(vector, width)]
    return event, dict(zip(found[:number], values, strict=True))
