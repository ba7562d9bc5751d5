"""Scales: how the 256 bytes of an attribute are spread over its domain.

Without a scale they are spread evenly. A vocabulary may say `scale = "log"`, so that equal ratios get equal
numbers of bytes, or give breakpoints, `[value, byte]` each. Whatever it says becomes breakpoints here, whole
numbers between which everything is a straight line; nothing behind this module knows anything else, and a
board needs neither a logarithm nor a float (`watchdog.normalise`).
"""

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Final

LAST_BYTE: Final = 255

MOST_PIECES: Final = 16
"""A scale has at most so many straight lines, which a board keeps and goes through for every reading."""

_EXACT: Final = Context(prec=40)
"""Decimal numbers are the same on every machine; a float's power need not be."""

Breakpoints = tuple[tuple[int, int], ...]


def log_breakpoints(lo_scaled: int, hi_scaled: int) -> Breakpoints:
    """Return the breakpoints between the ends of a domain above 0 on which equal ratios get equal steps."""
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
    """Yield what is wrong with breakpoints as an author wrote them, ends included, in words."""
    ends = f"[{lo}, 0] and [{hi}, {LAST_BYTE}]"
    if len(points) < 2 or points[0] != (lo, 0) or points[-1] != (hi, LAST_BYTE):
        yield f"it begins and ends with those of the domain, {ends}"
        return
    if len(points) - 1 > MOST_PIECES:
        yield f"it has {len(points) - 1} straight lines; a board takes up to {MOST_PIECES}"
    for (x, byte), (next_x, next_byte) in pairwise(points):
        if x >= next_x or byte >= next_byte:
            yield f"[{next_x}, {next_byte}] does not rise above [{x}, {byte}] in both numbers"
    for x, _ in points[1:-1]:
        if (Fraction(x) * 10**decimals).denominator != 1:
            yield f"{x} has more than {decimals} decimals; raise `decimals` or round it"


def scaled_breakpoints(points: Sequence[tuple[Decimal, int]], decimals: int) -> Breakpoints:
    """Return the sound breakpoints between the ends, their values as scaled integers."""
    return tuple((int(Fraction(x) * 10**decimals), byte) for x, byte in points[1:-1])


def is_even(lo_scaled: int, hi_scaled: int, breakpoints: Breakpoints) -> bool:
    """Tell whether all breakpoints lie on the straight line from end to end, so that they say nothing."""
    span = hi_scaled - lo_scaled
    return all(byte * span == LAST_BYTE * (scaled - lo_scaled) for scaled, byte in breakpoints)
