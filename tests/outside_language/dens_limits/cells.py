"""Sixteen bits a value: an attribute's domain in 65,536 cells, and what a byte says of them."""

from bisect import bisect_left

from knowledge_manager.vocabulary.event_class import Attribute
from watchdog.normalise import normal_byte

LAST_CELL = 65535


def cell_of(scaled: int, attribute: Attribute) -> int:
    """Return the cell of a value in scaled integers; what lies outside of the domain is in the last one."""
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    return LAST_CELL * (min(max(scaled, lo), hi) - lo) // (hi - lo)


def byte_of(scaled: int, attribute: Attribute) -> int:
    """Return the byte that a board makes of a value."""
    return normal_byte(scaled, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)


def cells_of_byte(byte: int, attribute: Attribute) -> tuple[int, int]:
    """Return the least and the greatest cell of the values that have this byte."""
    domain = range(attribute.lo_scaled, attribute.hi_scaled + 1)
    first = bisect_left(domain, byte, key=lambda scaled: byte_of(scaled, attribute))
    last = bisect_left(domain, byte + 1, key=lambda scaled: byte_of(scaled, attribute)) - 1
    low, high = domain[min(first, len(domain) - 1)], domain[max(last, 0)]
    return cell_of(low, attribute), max(cell_of(low, attribute), cell_of(high, attribute))


def bytes_of_cells(first: int, last: int, attribute: Attribute) -> tuple[int, int]:
    """Return the least and the greatest byte of the values in these cells; of cells without any value the
    bytes on both sides.
    """
    domain = range(attribute.lo_scaled, attribute.hi_scaled + 1)
    low = bisect_left(domain, first, key=lambda scaled: cell_of(scaled, attribute))
    high = bisect_left(domain, last + 1, key=lambda scaled: cell_of(scaled, attribute)) - 1
    ends = byte_of(domain[min(low, len(domain) - 1)], attribute), byte_of(domain[max(high, 0)], attribute)
    return min(ends), max(ends)
