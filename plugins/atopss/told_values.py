"""What a reading says of its values, as shapes: the corners that its source knew, or all that has a byte."""

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.atopss.shapes.scale import CORNER_LIMIT
from plugins.atopss.shapes.shapes import ANYTHING, Shape, interval, point
from plugins.readings import Corners, ExactReading
from watchdog.normalise import normal_byte
from watchdog.reading import Reading

_FARTHEST: Final = CORNER_LIMIT - 1
"""A value that lies beyond what can be written, which no domain does, is told as lying there."""


def shape_of_corners(corners: Corners, attribute: Attribute) -> Shape:
    """Return what a source knew of a value, on the axis of its attribute. All of the domain is anything."""
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    if corners == (lo, lo, hi, hi) and lo < hi:
        return ANYTHING
    return Shape(*(min(max(corner - lo, -_FARTHEST), _FARTHEST) for corner in corners))


def shape_of_byte(byte: int, attribute: Attribute) -> Shape:
    """Return the values that have this byte."""
    if attribute.type == "nominal":
        return point(byte)
    low, high = _values_of_byte(byte, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)
    return point(low) if low == high else interval(low, high)


@lru_cache(maxsize=4096)
def _values_of_byte(byte: int, lo: int, hi: int, inner: tuple[int, ...]) -> tuple[int, int]:
    """Return the least and the greatest value with a byte, from the low end; where no value has it, the one
    that comes next.
    """
    domain = range(lo, hi + 1)
    first = bisect_left(domain, byte, key=lambda scaled: normal_byte(scaled, lo, hi, inner))
    last = bisect_left(domain, byte + 1, key=lambda scaled: normal_byte(scaled, lo, hi, inner)) - 1
    low = min(first, hi - lo)
    return low, max(low, last)


def values_of_reading(reading: Reading, table: MissionTable) -> dict[int, Shape]:
    """Return all that a reading tells; an event class that there is not has no values."""
    event = next((one for one in table.events if one.index == reading.event), None)
    found: dict[int, Shape] = {}
    for attribute in () if event is None else event.attributes:
        if reading.has(attribute.index):
            if isinstance(reading, ExactReading):
                found[attribute.index] = shape_of_corners(reading.corners(attribute.index), attribute)
            else:
                found[attribute.index] = shape_of_byte(reading.row[attribute.index], attribute)
    return found


def values_of_row(
    event: int, feature: int, row: Mapping[int, int], corners: Mapping[int, Corners], table: MissionTable
) -> dict[int, Shape]:
    """Return all that a recorded reading tells: its bytes, and corners where a trace has kept them."""
    found: dict[int, Shape] = {}
    for attribute in table.event_at(event).attributes:
        if attribute.index in corners:
            found[attribute.index] = shape_of_corners(corners[attribute.index], attribute)
        elif feature >> attribute.index & 1:
            found[attribute.index] = shape_of_byte(row[attribute.index], attribute)
    return found
