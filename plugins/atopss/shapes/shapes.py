"""Shapes: what a predicate wants of a value, and what is known of one, on the axis of an attribute.

An axis counts scaled integers from the low end of the attribute's domain (36.65 of [30, 45] with two
decimals is 665), a nominal one positions in its list. A shape has four corners m1 ≤ m2 ≤ m3 ≤ m4: degree 1
on [m2, m3], 0 outside of [m1, m4], and a profile on each side that slopes. Of a predicate it is a fuzzy
set μ, of a value a possibility distribution π.
"""

from dataclasses import dataclass
from typing import Final

from plugins.atopss.shapes.profiles import STRAIGHT, levels
from plugins.atopss.shapes.scale import FULL, INFINITE


@dataclass(frozen=True, slots=True)
class Shape:
    """Four corners and the profiles of both sides; a side that does not slope has the straight one.

    An end that there is not is ∓`INFINITE`, in both corners of its side. Outside of [begin, end] the degree
    is 0: there a value is cut off whose sloped side crosses an end of its domain.
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
        """Say whether it is a set with sharp ends."""
        return self.m1 == self.m2 and self.m3 == self.m4

    @property
    def is_straight(self) -> bool:
        """Say whether no side is curved."""
        return not (self.left or self.right)

    @property
    def is_point(self) -> bool:
        """Say whether it is one value."""
        return self.m1 == self.m4

    @property
    def is_cut(self) -> bool:
        """Return whether a sloped side is cut off."""
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
        """Return what is known of a value whose domain is [0, length]: nothing outside of it is possible.

        A core outside of the domain is read as the nearest end, as one-byte readings are. A side that crosses
        an end is cut off there.
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
"""A predicate that asks for nothing but a value; a value of which nothing is known."""


def point(x: int) -> Shape:
    """Return one value."""
    return Shape(x, x, x, x)


def interval(low: int, high: int) -> Shape:
    """Return the values from low to high."""
    return Shape(low, low, high, high)


def at_most(m3: int, m4: int | None = None, profile: int = STRAIGHT) -> Shape:
    """Return what falls from m3 to m4, at once if there is no m4."""
    end = m3 if m4 is None else m4
    return Shape(-INFINITE, -INFINITE, m3, end, right=profile)


def at_least(m1: int, m2: int | None = None, profile: int = STRAIGHT) -> Shape:
    """Return what rises from m1 to m2, at once if there is no m2."""
    top = m1 if m2 is None else m2
    return Shape(m1, top, INFINITE, INFINITE, left=profile)
