"""`blocks`: bitsets in runs (`plugins.kernels.boxes.box_store`), with four levels of estimates.

Level 1 is the order of arrival. Level 2 is *coverage*: the number of boxes that touch the rows of the point,
attribute by attribute, as a sum of logarithms. Levels 3 and 4 are the super-blocks and the blocks whose
rectangles contain it.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from plugins.boxes.index import Estimate, Ids, Numbers, Sides, Words
from plugins.boxes.profile import Profile
from plugins.boxes.workload import by_point
from plugins.kernels.boxes.bitsets import (
    BLOCKS,
    BLOCKS_INSIDE,
    COUNTS,
    COVERED,
    READ,
    ROWS,
    SUPERS,
    SUPERS_INSIDE,
    cells_of,
    units_of,
)
from plugins.kernels.boxes.box_store import BoxStore
from plugins.kernels.compiled import compiled

COVERAGE, SUPER_BLOCKS, ALL_BLOCKS = 2, 3, 4
"""The levels above the first."""
_SCALE: Final = 256
"""Coverage is compared in integers of this resolution."""
_RUN: Final = 32
"""Position of the run number in a place, above the super-block or block."""
_STALE: Final = 16
"""Coverage is counted again when one box in this many has changed: it is an estimate."""


class BlocksIndex(BoxStore):
    """Bitsets with workload estimates; one level without a compiler."""

    _coverage: npt.NDArray[np.float64] | None = None
    _counted_at = 0

    @property
    def height(self) -> int:
        """Return the number of levels."""
        return ALL_BLOCKS if self._is_compiled else 1

    def unestimated(self, events: int) -> Estimate:
        return Estimate([None] * events, [1] * events, np.zeros((events, COUNTS), np.int64))

    def estimated(self, points: Sides, present: Words, level: int, most: int) -> Estimate | None:
        """Look up coverage, or test rectangles for all points."""
        counts = np.zeros((len(points), COUNTS), np.int64)
        if level == COVERAGE:
            counts[:, COVERED] = self.attributes
            return Estimate([None] * len(points), self.covered(points, present).tolist(), counts)
        from plugins.kernels.boxes.bitset_search import surviving

        look: Any = compiled(surviving)
        table, made = np.empty((most, 2), np.int64), 0
        for number, run in enumerate(self.runs()):
            end = look(run.arrays, run.blocks, level - COVERAGE, points, present, table, made, counts)
            if end < 0:
                return None
            table[made:end, 1] |= number << _RUN
            made = end
        starts, workloads = by_point(table[:made], len(points))
        marked = [None if start is None else np.append(start, level - COVERAGE) for start in starts]
        return Estimate(list(marked), workloads, counts)

    def search_from(
        self, start: Numbers | None, points: Sides, point: int, present: Words, counts: Numbers
    ) -> Ids:
        """Return the boxes that contain a point, from its super-blocks or blocks on; the depth is last."""
        if not self._is_compiled:
            return self.search(points[point : point + 1], present[point : point + 1])[1]
        from plugins.kernels.boxes.bitset_search import Points, Start, search_from

        look: Any = compiled(search_from)
        rows = cells_of(points[point : point + 1], present[point : point + 1])
        own = Points(points[point : point + 1], present[point : point + 1], rows)
        depth = 0 if start is None else int(start[-1])
        places = np.zeros(0, np.int64) if start is None else start[:-1]
        parts = [np.zeros(0, np.uint32)]
        for number, run in enumerate(self.runs()):
            of_run = places[places >> _RUN == number] & (1 << _RUN) - 1
            while True:
                counted = np.zeros(COUNTS, np.int64)
                found = look(run.arrays, run.blocks, Start(depth, of_run), own, 0, self._ids, 0, counted)
                if found >= 0:
                    break
                self._make_room()
            counts += counted
            parts.append(self._ids[:found].copy())
        return np.concatenate(parts)

    def units(self, counts: Numbers) -> Numbers:
        """Return the work of each row."""
        return units_of(counts)

    def profile(self, points: Sides, present: Words, counts: Numbers) -> Profile:
        """Return the profile: from level 3 on, tests of the estimate are not repeated."""
        supers, blocks, read = counts[:, SUPERS], counts[:, BLOCKS], counts[:, READ]
        nothing, whole = np.zeros_like(supers), supers + blocks + read
        if self.height == 1:
            return Profile(nothing[:, None], nothing[:, None], whole[:, None])
        covered = self.covered(points, present)
        workloads = (np.ones_like(supers), covered, counts[:, SUPERS_INSIDE], counts[:, BLOCKS_INSIDE])
        spent = (nothing, np.full_like(supers, self.attributes), supers, supers + blocks)
        return Profile(
            np.stack(workloads, axis=1),
            np.stack(spent, axis=1),
            np.stack((whole, whole, blocks + read, read), 1),
        )

    def covered(self, points: Sides, present: Words) -> Numbers:
        """Return, for each point, the sum of the logarithms of the numbers of boxes that touch its rows."""
        known = self._coverage
        if known is None or _STALE * (self.version - self._counted_at) > len(self):
            touching = np.zeros((self.attributes, ROWS), np.int64)
            for run in self.runs():
                touching += np.bitwise_count(run.arrays.bits[: run.blocks]).sum(axis=(0, 3), dtype=np.int64)
            known = self._coverage = np.log2(touching + 1)
            self._counted_at = self.version
        rows = cells_of(points, present)
        logarithms = known[np.arange(self.attributes), rows].sum(axis=1)
        scaled: Numbers = np.rint(_SCALE * logarithms).astype(np.int64)
        return scaled
