"""Laws of indexes over boxes, run on each by the same tests: they find what the definition finds."""

from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.boxes.blocks import BlocksIndex
from plugins.boxes.index import BoxIndex
from plugins.boxes.indexes import INDEXES
from plugins.boxes.rtree import RTreeIndex
from plugins.boxes.scan import ScanIndex
from tests.plugins.boxes.box_populations import BoxMaker, Brute, per_point, step

NEVER = 10**9
FORMS: dict[str, Callable[[int, npt.DTypeLike], BoxIndex]] = {
    "scan": ScanIndex,
    "rtree, compiled": partial(RTreeIndex, compile_from=0),
    "rtree, plain": partial(RTreeIndex, compile_from=NEVER),
    "blocks, compiled": partial(BlocksIndex, compile_from=0, seal_from=300),
    "blocks, NumPy": partial(BlocksIndex, compile_from=NEVER, seal_from=300),
}
"""Every index on every machine, `blocks` with runs small enough to be sealed and merged."""


def test_every_index_is_here() -> None:
    assert {form.partition(",")[0] for form in FORMS} == set(INDEXES)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@given(
    seed=st.integers(0, 2**32),
    attributes=st.sampled_from((1, 2, 3, 5, 12)),
    cell=st.sampled_from(("uint8", "uint16")),
    values=st.sampled_from((3, 256)),
)
@settings(max_examples=12)
def test_any_history_gives_what_the_definition_gives(
    form: str, seed: int, attributes: int, cell: str, values: int
) -> None:
    maker, brute = BoxMaker(Random(seed), attributes, cell, values), Brute()
    index = FORMS[form](attributes, cell)
    for _ in range(30):
        step(index, brute, maker, ids=900)
        assert len(index) == len(brute.held)
        points, present = maker.points(3)
        wanted = brute.found(points, present)
        assert per_point(index.search(points, present)) == wanted
        assert per_point(index.search_together(points, present)) == wanted


@pytest.mark.parametrize("form", FORMS)
def test_nothing_and_all_alike(form: str) -> None:
    index = FORMS[form](2, "uint8")
    none, points = np.zeros((0, 2), np.uint8), np.full((5, 2), 7, np.uint8)
    everything = np.full(5, 3, np.uint64)
    assert per_point(index.search(points, everything)) == [[]] * 5
    index.remove(np.array([1, 2], np.uint32))
    index.add(np.zeros(0, np.uint32), np.zeros((0, 4), np.uint8), np.zeros(0, np.uint64))
    alike = np.tile(np.array([7, 0, 7, 255], np.uint8), (3000, 1))
    ids = np.arange(3000, dtype=np.uint32)
    for begin in range(0, 3000, 100):
        some = slice(begin, begin + 100)
        index.add(ids[some], alike[some], np.full(100, 3, np.uint64))
        index.maintain(500)
    index.reload()
    assert per_point(index.search(points, everything)) == [list(range(3000))] * 5
    assert per_point(index.search_together(points, everything)) == [list(range(3000))] * 5
    assert per_point(index.search(none, everything[:0])) == []
    index.remove(ids)
    assert len(index) == 0
    assert per_point(index.search(points, everything)) == [[]] * 5
    index.reload()
    assert per_point(index.search(points, everything)) == [[]] * 5
