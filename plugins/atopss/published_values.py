"""Values of a reading as shapes: the corners that its source knew, or all values of a byte."""

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
"""A value beyond what can be encoded, which no domain has, is clipped to this."""


def shape_of_corners(corners: Corners, attribute: Attribute) -> Shape:
    """Return a value with these corners, on the axis of its attribute. The whole domain is anything."""
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    if corners == (lo, lo, hi, hi) and lo < hi:
        return ANYTHING
    return Shape(*(min(max(corner - lo, -_FARTHEST), _FARTHEST) for corner in corners))


def shape_of_byte(byte: int, attribute: Attribute) -> Shape:
    """Return the values with this byte."""
    if attribute.type == "nominal":
        return point(byte)
    low, high = _values_of_byte(byte, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)
    return point(low) if low == high else interval(low, high)


@lru_cache(maxsize=4096)
def _values_of_byte(byte: int, lo: int, hi: int, inner: tuple[int, ...]) -> tuple[int, int]:
    """Return the least and the greatest value with a byte, from the low end; if there is none, the next
    value.
    """
    domain = range(lo, hi + 1)
    first = bisect_left(domain, byte, key=lambda scaled: normal_byte(scaled, lo, hi, inner))
    last = bisect_left(domain, byte + 1, key=lambda scaled: normal_byte(scaled, lo, hi, inner)) - 1
    low = min(first, hi - lo)
    return low, max(low, last)


def values_of_reading(reading: Reading, table: MissionTable) -> dict[int, Shape]:
    """Return all values of a reading; none for an unknown event class."""
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
    """Return all values of a recorded reading: its bytes, and corners if the trace has them."""
    found: dict[int, Shape] = {}
    for attribute in table.event_at(event).attributes:
        if attribute.index in corners:
            found[attribute.index] = shape_of_corners(corners[attribute.index], attribute)
        elif feature >> attribute.index & 1:
            found[attribute.index] = shape_of_byte(row[attribute.index], attribute)
    return found
