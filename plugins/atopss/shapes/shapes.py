"""Shapes: the fuzzy set of a predicate, and the possibility distribution of a value, on the axis of an
attribute.

An axis counts scaled integers from the low end of the attribute's domain (36.65 of [30, 45] with two decimals
is 665), a nominal one positions in its list. A shape has four corners m1 ≤ m2 ≤ m3 ≤ m4: degree 1 on [m2,
m3], 0 outside [m1, m4], and a profile on each sloped side. For a predicate it is a fuzzy set μ, for a value a
possibility distribution π.
"""

from dataclasses import dataclass
from typing import Final

from plugins.atopss.shapes.profiles import STRAIGHT, levels
from plugins.atopss.shapes.scale import FULL, INFINITE


@dataclass(frozen=True, slots=True)
class Shape:
    """Four corners and the profiles of both sides; a side without a slope has the straight one.

    An unbounded end is ∓`INFINITE`, in both corners of its side. Outside [begin, end] the degree is 0: a
    value is clipped there if its sloped side crosses an end of its domain.
    """

    m1: int
    m2: int
    m3: int
    m4: int
    left: int = STRAIGHT
    right: int = STRAIGHT
    begin: int = -INFINITE
    end: int = INFINITE

    @property
    def is_crisp(self) -> bool:
        """Return whether it is a set with sharp ends."""
        return self.m1 == self.m2 and self.m3 == self.m4

    @property
    def is_straight(self) -> bool:
        """Return whether no side is curved."""
        return not (self.left or self.right)

    @property
    def is_point(self) -> bool:
        return self.m1 == self.m4

    @property
    def is_cut(self) -> bool:
        """Return whether a sloped side is clipped."""
        return self.begin > self.m1 or self.end < self.m4

    def first(self, k: int) -> int:
        """Return where the cut at k/510 begins, in parts of the axis; for k = 0 where the support does."""
        return max(FULL * self.m1 + (self.m2 - self.m1) * levels(self.left)[k], FULL * self.begin)

    def last(self, k: int) -> int:
        """Return where the cut at k/510 ends, in parts of the axis."""
        return min(FULL * self.m4 - (self.m4 - self.m3) * levels(self.right)[k], FULL * self.end)

    def contains(self, x: int, k: int) -> bool:
        """Return whether the degree at a point of the axis is at least k/510."""
        return k == 0 or self.first(k) <= FULL * x <= self.last(k)

    def within(self, length: int) -> "Shape":
        """Return a value clipped to its domain [0, length].

        A core outside the domain is read as the nearest end, like one-byte readings.
        """
        if self.m1 >= 0 and self.m4 <= length:
            return self
        m2, m3 = min(max(self.m2, 0), length), min(max(self.m3, 0), length)
        m1, m4 = 0 if m2 == 0 else min(self.m1, m2), length if m3 == length else max(self.m4, m3)
        return Shape(
            m1,
            m2,
            m3,
            m4,
            self.left if m1 < m2 else STRAIGHT,
            self.right if m3 < m4 else STRAIGHT,
            0 if m1 < 0 else -INFINITE,
            length if m4 > length else INFINITE,
        )


ANYTHING: Final = Shape(-INFINITE, -INFINITE, INFINITE, INFINITE)
"""A predicate that only requires a value; an unknown value."""


def point(x: int) -> Shape:
    return Shape(x, x, x, x)


def interval(low: int, high: int) -> Shape:
    return Shape(low, low, high, high)


def at_most(m3: int, m4: int | None = None, profile: int = STRAIGHT) -> Shape:
    """Return the shape that falls from m3 to m4, a step without m4."""
    end = m3 if m4 is None else m4
    return Shape(-INFINITE, -INFINITE, m3, end, right=profile)


def at_least(m1: int, m2: int | None = None, profile: int = STRAIGHT) -> Shape:
    """Return the shape that rises from m1 to m2, a step without m2."""
    top = m1 if m2 is None else m2
    return Shape(m1, top, INFINITE, INFINITE, left=profile)
