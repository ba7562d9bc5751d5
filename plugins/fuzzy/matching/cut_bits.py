"""Large groups with minimum aggregation as bitsets of their cuts: a minimum is a box of cuts.

From `ATTRIBUTES_FROM` constraints and `ROWS_FROM` rows on a group is also stored in a `BoxStore` and searched
there; below that, scanning columns is faster (measured: docs/explanation/matching.md). Rows stay where they
are; changes since the last search are applied before the next one.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from plugins.kernels.boxes.box_store import SEAL_FROM, BoxStore
from plugins.kernels.rows.layout import AGED, COUNT, FLIPS, IN_BITS, KIND, MINIMUM, NEEDS, SIZE, BitsetRuns
from plugins.kernels.rows.rows import RowStore

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

ATTRIBUTES_FROM: Final = 5
"""With fewer constraints the AND leaves too many candidates."""
ROWS_FROM: Final = 32_768
"""With fewer rows columns are as fast for single notifications, at no extra cost."""
MOST_MATCHING: Final = 0.001
"""If a larger share of rows matches a random value, verifying them costs what the AND saves."""
SAMPLE: Final = 1_024
"""Rows sampled for that share."""
UPKEEP: Final = 64
"""Bitset maintenance per changed row: a box is moved about this often until its final place."""


class CutBits:
    """The bitsets of the large groups of a store."""

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self._boxes: dict[int, BoxStore] = {}
        self._runs: BitsetRuns | None = None
        self._seen = -1

    @property
    def held_bytes(self) -> int:
        return sum(boxes.held_bytes for boxes in self._boxes.values())

    @property
    def is_used(self) -> bool:
        return bool(self._boxes)

    def refresh(self) -> bool:
        """Apply row changes to the bitsets; return whether there are any bitsets."""
        store = self._store
        if store.changes != self._seen:
            self._seen, self._runs = store.changes, None
            for number, boxes in list(self._boxes.items()):
                if 2 * store.groups[number, COUNT] < ROWS_FROM:
                    self._leave(number)
                else:
                    self._bring_over(number, boxes)
            self._adopt()
        return bool(self._boxes)

    def runs(self, row_bytes: int) -> BitsetRuns:
        """Return the input of the compiled search: the runs, their groups and used blocks, and the places of
        a group's values in rows of this many bytes.
        """
        if self._runs is None:
            from numba.typed import List

            parts = [
                (number, run) for number, boxes in self._boxes.items() for run in boxes.runs() if run.count
            ]
            owners, columns = np.zeros((len(parts), 2), np.int64), np.zeros((len(parts), 64), np.int64)
            for at, (number, run) in enumerate(parts):
                group = self._store.groups[number]
                places = [index for index in range(63) if int(group[NEEDS]) >> index & 1]
                places += [row_bytes - 1] * int(group[AGED])
                owners[at], columns[at, : len(places)] = (number, run.blocks), places
            self._runs = BitsetRuns(List([run.arrays for _, run in parts]), owners, columns)
        return self._runs

    def _adopt(self) -> None:
        """Add groups that have become large enough."""
        groups = self._store.groups[: self._store.group_count]
        large = (groups[:, KIND] == MINIMUM) & (groups[:, SIZE] >= ATTRIBUTES_FROM) & (groups[:, FLIPS] == 0)
        large &= (groups[:, COUNT] >= ROWS_FROM) & (groups[:, IN_BITS] == 0)
        for number in np.flatnonzero(large).tolist():
            places = self._store.places_of(number)
            if self._matching(number, places) > MOST_MATCHING:
                continue
            boxes = self._boxes[number] = BoxStore(int(groups[number, SIZE]), compile_from=0)
            boxes.load(places.astype(np.uint32), *self._of_rows(number, places))
            self._store.watched[number] = {}
            groups[number, IN_BITS] = 1

    def _matching(self, number: int, places: Numbers) -> float:
        """Return the share of a group's rows that match a random value."""
        cuts = self._store.cuts_at(number, places[:: max(len(places) // SAMPLE, 1)]).astype(np.float64)
        size = cuts.shape[1] // 2
        return float(((cuts[:, size:] - cuts[:, :size] + 1) / 256).prod(axis=1).mean())

    def _leave(self, number: int) -> None:
        """Remove a group that has become small."""
        del self._boxes[number], self._store.watched[number]
        self._store.groups[number, IN_BITS] = 0

    def _bring_over(self, number: int, boxes: BoxStore) -> None:
        touched = self._store.watched[number]
        if not touched:
            return
        self._store.watched[number] = {}
        places = np.fromiter(touched, np.int64, len(touched))
        is_row = np.fromiter(touched.values(), np.bool_, len(touched))
        ids = places.astype(np.uint32)
        if len(ids) >= SEAL_FROM:
            boxes.remove(ids)
            boxes.load(ids[is_row], *self._of_rows(number, places[is_row]))
        else:
            boxes.remove(ids[~is_row])
            boxes.add(ids[is_row], *self._of_rows(number, places[is_row]))
        boxes.maintain(UPKEEP * len(ids))

    def _of_rows(self, number: int, places: Numbers) -> tuple[Bytes, npt.NDArray[np.uint64]]:
        size = int(self._store.groups[number, SIZE])
        return self._store.cuts_at(number, places), np.full(len(places), (1 << size) - 1, np.uint64)
