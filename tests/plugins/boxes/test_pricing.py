"""Prices of estimates are those of the clock: found again where the clock says what they are."""

from random import Random

import pytest

from plugins.boxes.batch_search import measured_prices
from plugins.boxes.index import Estimate, Ids, Numbers, Sides, Words
from plugins.boxes.profile import UNITS
from plugins.boxes.rtree import RTreeIndex
from tests.plugins.boxes.box_populations import BoxMaker

FIXED, SLOPE, TEST = 0.5, 0.002, 0.001


class Ticking(RTreeIndex):
    """A tree on which everything takes the time that it should."""

    now = 0.0

    def estimated(self, points: Sides, present: Words, level: int, most: int) -> Estimate | None:
        known = super().estimated(points, present, level, most)
        assert known is not None
        self.now += FIXED + SLOPE * float(self.units(known.counts).sum())
        return known

    def search_from(
        self, start: Numbers | None, points: Sides, point: int, present: Words, counts: Numbers
    ) -> Ids:
        before = int(self.units(counts))
        found = super().search_from(start, points, point, present, counts)
        self.now += TEST * (int(self.units(counts)) - before)
        return found


def test_prices_are_found_again() -> None:
    maker = BoxMaker(Random(3), 3, values=40)
    index = Ticking(3)
    index.load(*maker.arrays({box: maker.box() for box in range(3000)}))
    points, present = maker.points(20)
    found = measured_prices(index, points, present, lambda: index.now)
    assert found.kappa == pytest.approx(SLOPE / TEST)
    assert found.phi == pytest.approx(FIXED / TEST)


def test_where_there_is_nothing_to_fit_units_are_taken() -> None:
    index, maker = RTreeIndex(3), BoxMaker(Random(3), 3)
    points, present = maker.points(4)
    assert measured_prices(index, points, present, lambda: 0.0) == UNITS
    index.load(*maker.arrays({box: maker.box() for box in range(2000)}))
    assert measured_prices(index, points, present, lambda: 0.0) == UNITS
    assert measured_prices(index, points[:0], present[:0], lambda: 0.0) == UNITS
