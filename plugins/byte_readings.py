"""Mapping between exact readings and bytes.

An exact reading is a value that the mission table can express: a whole number of 10^-decimals (days of a
date, seconds of a time of day, positions in a list of values), here as a scaled integer. Several readings
share a byte, so the bounds of a subscription can lie only between two bytes. The mapping is monotonic: the
readings of a byte are a run, empty where the domain has fewer readings than bytes.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from knowledge_manager.vocabulary.event_class import Attribute
from watchdog.normalise import normal_byte

Range = tuple[int, int]
"""Readings from the first to the last, both included."""


def byte_of(reading: int, attribute: Attribute) -> int:
    """Return the byte of a reading. A position in a list of values is its own byte."""
    if attribute.type == "nominal":
        return reading
    return normal_byte(reading, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)


def first_reading(byte: int, attribute: Attribute) -> int:
    """Return the least reading whose byte is at least this one; beyond the domain if there is none."""
    if attribute.type == "nominal":
        return min(byte, attribute.hi_scaled + 1)
    return _first_readings(attribute.lo_scaled, attribute.hi_scaled, attribute.inner)[byte]


def last_reading(byte: int, attribute: Attribute) -> int:
    """Return the greatest reading whose byte is at most this one."""
    return first_reading(byte + 1, attribute) - 1


def readings_of(v: int, V: int, attribute: Attribute) -> list[Range]:
    """Return the readings whose bytes lie in v..V: one range, or none."""
    first, last = first_reading(v, attribute), last_reading(V, attribute)
    return [(first, last)] if first <= last else []


def all_but(ranges: Iterable[Range], attribute: Attribute) -> list[Range]:
    """Return the readings of the domain outside rising ranges."""
    edges = [(attribute.lo_scaled, attribute.lo_scaled - 1), *ranges, (attribute.hi_scaled + 1, 0)]
    return [(last + 1, first - 1) for (_, last), (first, _) in pairwise(edges) if last + 1 < first]


def count(ranges: Iterable[Range]) -> int:
    """Return the number of readings in the ranges."""
    return sum(last - first + 1 for first, last in ranges)


def middle(byte: int | Fraction, attribute: Attribute) -> Fraction:
    """Return the value in the middle of a byte's readings, in the attribute's unit. Fractional bytes are
    allowed.
    """
    (x, low), (next_x, high) = _piece(attribute, byte, 1)
    return Fraction(x + (next_x - x) * (byte - low) / Fraction(high - low), 10**attribute.decimals)


def step_at(reading: int, attribute: Attribute) -> Fraction:
    """Return the distance between the middles of neighbouring bytes around a reading, in the attribute's
    unit.
    """
    (x, low), (next_x, high) = _piece(attribute, reading, 0)
    return Fraction(next_x - x, (high - low) * 10**attribute.decimals)


def _piece(attribute: Attribute, place: int | Fraction, by: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the two breakpoints around a reading (`by` 0) or a byte (`by` 1)."""
    points = [(attribute.lo_scaled, 0), *attribute.breakpoints, (attribute.hi_scaled, 255)]
    return next((pair for pair in pairwise(points) if place <= pair[1][by]), (points[-2], points[-1]))


@lru_cache(maxsize=256)
def _first_readings(lo: int, hi: int, inner: tuple[int, ...]) -> tuple[int, ...]:
    """Return for each byte 0..256 the least reading with at least that byte."""
    found = []
    for byte in range(256):
        low, high = lo, hi
        while low < high:
            half = (low + high) // 2
            if normal_byte(half, lo, hi, inner) >= byte:
                high = half
            else:
                low = half + 1
        found.append(low)
    return (*found, hi + 1)
