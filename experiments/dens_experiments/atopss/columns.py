"""Possibility and necessity of many predicates at once, as fractions of whole numbers.

The language counts in 510ths. Thresholds that are not thirtieths, and the papers' reference of real numbers,
need the degrees themselves; the closed forms of straight sides have them exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dens_experiments.atopss.workload import ATTRIBUTES, Publications
from plugins.atopss.relations.covering import PlainColumns
from plugins.atopss.shapes.scale import BYTE_TOP

Numbers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Fractions:
    """Degrees from 0 to 1, numerators over denominators."""

    over: Numbers
    under: Numbers

    def reach(self, numerator: int, denominator: int) -> Truths:
        """Say which are at least a fraction; at least 0 are those above 0."""
        if numerator == 0:
            return self.over > 0
        return self.over * denominator >= numerator * self.under

    @property
    def reals(self) -> npt.NDArray[np.float64]:
        """Return them as real numbers."""
        return self.over / self.under

    @property
    def bytes(self) -> Numbers:
        """Return them as the language counts them, ⌊255·x⌋."""
        return BYTE_TOP * self.over // self.under


def possibility(wanted: Numbers, value: Numbers) -> Fractions:
    """Return Π of sets and values with straight sides; corners stand in the last axis."""
    m1, m2, m3, m4 = np.moveaxis(wanted, -1, 0)
    n1, n2, n3, n4 = np.moveaxis(value, -1, 0)
    is_right = n2 > m3
    gap = np.where(is_right, n2 - m3, m2 - n3)
    spread = np.where(is_right, (m4 - m3) + (n2 - n1), (m2 - m1) + (n4 - n3))
    is_whole = (gap <= 0) | (gap >= spread)
    return Fractions(
        np.where(gap <= 0, 1, np.where(gap >= spread, 0, spread - gap)), np.where(is_whole, 1, spread)
    )


def necessity(wanted: Numbers, value: Numbers) -> Fractions:
    """Return N of sets and values with straight sides: the smaller of what both sides allow."""
    m1, m2, m3, m4 = np.moveaxis(wanted, -1, 0)
    n1, n2, n3, n4 = np.moveaxis(value, -1, 0)
    left = _side(n2 - m1, (m2 - m1) + (n2 - n1))
    right = _side(m4 - n3, (m4 - m3) + (n4 - n3))
    is_left = left.over * right.under <= right.over * left.under
    return Fractions(np.where(is_left, left.over, right.over), np.where(is_left, left.under, right.under))


def _side(room: Numbers, spread: Numbers) -> Fractions:
    is_full = room >= spread
    is_whole = is_full | (room <= 0)
    return Fractions(np.where(is_full, 1, np.where(room <= 0, 0, room)), np.where(is_whole, 1, spread))


def served(columns: PlainColumns, told: Publications) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield for each publication the subscriptions all of whose attributes it has, and the values for
    them.
    """
    for attributes, corners in zip(told.attributes, told.corners, strict=True):
        place = np.full(ATTRIBUTES, -1)
        place[attributes] = np.arange(len(attributes))
        rows = np.flatnonzero((place[columns.attributes] >= 0).all(axis=1))
        yield rows, corners[place[columns.attributes[rows]]]
