"""Possibility and necessity as the definition has them, in exact rationals: Π = sup min(μ, π) and
N = inf max(μ, 1 − π) over all x of a domain, or of the whole line where there is none.

A shape is drawn as its breakpoints, with what the curve has left of each, at it and right of it. Between two
of them both curves are straight, so suprema and infima stand at breakpoints, at one-sided limits or where the
curves cross. Nothing here knows the language that is tested; tables of profiles come from the golden file.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

Number = Fraction | None
"""A corner; None is an end that does not exist."""

Values = tuple[Fraction, Fraction, Fraction]
"""What a curve has just left of a place, at it, and just right of it."""

ZERO, ONE = Fraction(0), Fraction(1)


class Curve:
    """A piecewise straight curve: its breakpoints, and the constants beyond them."""

    def __init__(
        self, corners: Sequence[int | None], left: Sequence[int] | None, right: Sequence[int] | None
    ) -> None:
        m1, m2, m3, m4 = (None if corner is None else Fraction(corner) for corner in corners)
        self.before = ONE if m2 is None else ZERO
        self.after = ONE if m3 is None else ZERO
        found: dict[Fraction, Values] = {}
        if m1 is not None and m2 is not None:
            found |= _rising(m1, m2, left)
        if m3 is not None and m4 is not None:
            for x, (below, at, above) in _rising(-m4, -m3, right).items():
                known = found.get(-x)
                found[-x] = (above, at, below) if known is None else (known[0], ONE, below)
        self.places = sorted(found)
        self._values = found

    def at(self, x: Fraction) -> Values:
        """Return what the curve has around x."""
        if x in self._values:
            return self._values[x]
        after = bisect_left(self.places, x)
        if after == 0 or after == len(self.places):
            beyond = self.before if after == 0 else self.after
            return beyond, beyond, beyond
        low, high = self.places[after - 1], self.places[after]
        y, other = self._values[low][2], self._values[high][0]
        degree = y + (other - y) * (x - low) / (high - low)
        return degree, degree, degree


def _rising(foot: Fraction, top: Fraction, table: Sequence[int] | None) -> dict[Fraction, Values]:
    if foot == top:
        return {foot: (ZERO, ONE, ONE)}
    points = [(ZERO, ZERO), (ONE, ONE)]
    if table is not None:
        points = [(Fraction(q, 65535), Fraction(k, 255)) for k, q in enumerate(table)]
    return {foot + (top - foot) * u: (degree, degree, degree) for u, degree in points}


Domain = tuple[int, int]
"""The least and the greatest value that there can be."""


def exact(
    wanted: Curve, value: Curve, *, complement: bool = False, domain: Domain | None = None
) -> tuple[Fraction, Fraction]:
    """Return (Π, N) of a predicate, or of its opposite, over a domain."""

    def mu(x: Fraction) -> Fraction:
        return ONE - x if complement else x

    curves = wanted, value, domain
    possible = _extreme(*curves, max, lambda m, p: min(mu(m), p), lambda m, p: mu(m) - p)
    necessary = _extreme(*curves, min, lambda m, p: max(mu(m), ONE - p), lambda m, p: mu(m) - ONE + p)
    return possible, necessary


Judge = Callable[[Fraction, Fraction], Fraction]


def _extreme(
    wanted: Curve,
    value: Curve,
    domain: Domain | None,
    best: Callable[[list[Fraction]], Fraction],
    judge: Judge,
    apart: Judge,
) -> Fraction:
    """Return the largest or the least that `judge` takes; it bends where `apart` is 0."""
    places = sorted({*wanted.places, *value.places})
    if domain is None:
        found = [judge(wanted.before, value.before), judge(wanted.after, value.after)]
        for x in places:
            found += [judge(m, p) for m, p in zip(wanted.at(x), value.at(x), strict=True)]
    else:
        low, high = map(Fraction, domain)
        places = sorted({low, high, *(x for x in places if low < x < high)})
        found = []
        for x in places:
            around = [judge(m, p) for m, p in zip(wanted.at(x), value.at(x), strict=True)]
            found += around[x == low : 2 if x == high else 3]
    for low, high in pairwise(places):
        ends = [(wanted.at(low)[2], value.at(low)[2]), (wanted.at(high)[0], value.at(high)[0])]
        first, second = (apart(*end) for end in ends)
        if first * second < 0:
            share = first / (first - second)
            found.append(judge(*(a + (b - a) * share for a, b in zip(*ends, strict=True))))
    return best(found)


def curve(
    corners: Sequence[int | None], profiles: tuple[int, int], tables: Mapping[str, Sequence[int]]
) -> Curve:
    """Return the curve of a shape whose sides have these profile bytes, 0 for straight ones."""
    left, right = (tables[str(byte)] if byte else None for byte in profiles)
    return Curve(corners, left, right)
