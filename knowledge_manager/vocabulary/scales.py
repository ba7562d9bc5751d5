"""Scales: how the 256 bytes of an attribute are spread over its domain.

By default evenly. `scale = "log"` gives equal ratios equal numbers of bytes; breakpoints `[value, byte]`
define any other scale. Both become integer breakpoints with linear interpolation here, so that all other
code, and boards without logarithms or floats, need to support only that (`watchdog.normalise`).
"""

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Final

LAST_BYTE: Final = 255

MOST_PIECES: Final = 16
"""Maximum linear segments of a scale, which a board stores and scans for every reading."""

_EXACT: Final = Context(prec=40)
"""Decimal arithmetic gives the same result on every machine; float powers may not."""

Breakpoints = tuple[tuple[int, int], ...]


def log_breakpoints(lo_scaled: int, hi_scaled: int) -> Breakpoints:
    """Return the inner breakpoints of a logarithmic scale over a domain above 0."""
    ratio = _EXACT.divide(Decimal(hi_scaled), Decimal(lo_scaled))
    found: list[tuple[int, int]] = []
    before = lo_scaled
    for piece in range(1, MOST_PIECES):
        byte = (piece * LAST_BYTE + MOST_PIECES // 2) // MOST_PIECES
        share = _EXACT.divide(Decimal(byte), Decimal(LAST_BYTE))
        value = _EXACT.multiply(Decimal(lo_scaled), _EXACT.power(ratio, share))
        scaled = int(value.to_integral_value())
        if before < scaled < hi_scaled:
            found.append((scaled, byte))
            before = scaled
    return tuple(found)


def faults_of_breakpoints(
    points: Sequence[tuple[Decimal, int]], lo: Decimal, hi: Decimal, decimals: int
) -> Iterator[str]:
    """Yield the problems of breakpoints as written by an author, ends included."""
    ends = f"[{lo}, 0] and [{hi}, {LAST_BYTE}]"
    if len(points) < 2 or points[0] != (lo, 0) or points[-1] != (hi, LAST_BYTE):
        yield f"the first and last points must be those of the domain, {ends}"
        return
    if len(points) - 1 > MOST_PIECES:
        yield f"it has {len(points) - 1} segments; the maximum is {MOST_PIECES}"
    for (x, byte), (next_x, next_byte) in pairwise(points):
        if x >= next_x or byte >= next_byte:
            yield f"[{next_x}, {next_byte}] is not above [{x}, {byte}] in both numbers"
    for x, _ in points[1:-1]:
        if (Fraction(x) * 10**decimals).denominator != 1:
            yield f"{x} has more than {decimals} decimals; raise `decimals` or round it"


def scaled_breakpoints(points: Sequence[tuple[Decimal, int]], decimals: int) -> Breakpoints:
    """Return the inner breakpoints with scaled values, for valid input."""
    return tuple((int(Fraction(x) * 10**decimals), byte) for x, byte in points[1:-1])


def is_even(lo_scaled: int, hi_scaled: int, breakpoints: Breakpoints) -> bool:
    """Return whether all breakpoints lie on the line from end to end, so that the scale is linear."""
    span = hi_scaled - lo_scaled
    return all(byte * span == LAST_BYTE * (scaled - lo_scaled) for scaled, byte in breakpoints)
