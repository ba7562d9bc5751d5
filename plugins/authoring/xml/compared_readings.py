"""The exact readings for which a comparison with constants holds."""

import math
from fractions import Fraction

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.xml.comparisons import nearest_reading
from plugins.byte_readings import Range, all_but


def compared_readings(operator: str, constants: list[Fraction], attribute: Attribute) -> tuple[Range, ...]:
    """Return the exact readings for which the comparison holds, as rising ranges.

    A constant between two readings (38.256 with two decimals) equals none of them; `eq` and `in` then use the
    reading that a source would round it to.
    """
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    c = constants[0]
    same = (nearest_reading(c), nearest_reading(c))
    match operator:
        case "eq":
            found = [same]
        case "ne":
            found = all_but([same] if c.denominator == 1 else [], attribute)
        case "le":
            found = [(lo, math.floor(c))]
        case "lt":
            found = [(lo, math.ceil(c) - 1)]
        case "ge":
            found = [(math.ceil(c), hi)]
        case "gt":
            found = [(math.floor(c) + 1, hi)]
        case "between" if c > constants[1] and attribute.type == "time":
            found = [(lo, math.floor(constants[1])), (math.ceil(c), hi)]
        case "between":
            found = [(math.ceil(c), math.floor(constants[1]))]
        case _:
            found = sorted({(nearest_reading(one), nearest_reading(one)) for one in constants})
    return joined_ranges([(first, last) for first, last in found if first <= last])


def joined_ranges(ranges: list[Range]) -> tuple[Range, ...]:
    """Return rising ranges with adjacent ones joined."""
    joined: list[Range] = []
    for first, last in ranges:
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)
