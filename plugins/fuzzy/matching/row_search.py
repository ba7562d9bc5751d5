"""Searches the rows of a store for notifications, compiled or with NumPy."""

from typing import Any

import numpy as np
import numpy.typing as npt

from plugins.fuzzy.matching.cut_bits import CutBits
from plugins.fuzzy.matching.population import NotificationRow
from plugins.kernels.compiled import compiled, is_available
from plugins.kernels.rows import numpy_scan
from plugins.kernels.rows.layout import COUNT, Notifications, RowArrays, SearchRoom
from plugins.kernels.rows.rows import RowStore
from plugins.matching_work import MatchingWork

Found = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]
"""Keys as origin·256 + id, and their degrees, side by side."""

WORTH_SORTING = 2
"""Notifications per group, on average, from which grouping them pays."""

BEYOND_CACHES = 1 << 25
"""Bytes of rows from which reading them again costs more than sorting the matches."""


class RowSearch:
    """Searches a store with reusable buffers. Results are valid until the next search."""

    def __init__(self, store: RowStore, exact: bool, compile_from: int, work: MatchingWork) -> None:
        self._store = store
        self._work = work
        self._compile_from = compile_from
        self._exact = exact
        self._room = SearchRoom(
            visited=np.zeros(0, np.int32),
            scratch=np.zeros(0, np.uint8),
            numbers=np.zeros(0, np.int64),
            keys=np.zeros(0, np.uint32),
            degrees=np.zeros(0, np.uint8),
        )
        self._arrays_of_store: RowArrays | None = None
        self._arrays_at = -1
        """The store's count of changes when the arrays were taken."""
        self._pieces = np.zeros((0, 3), np.int64)
        self._bits = CutBits(store)
        self._tally = np.zeros(2, np.int64)
        self._is_beyond_caches = False
        self._weighed = -1

    @property
    def is_compiled(self) -> bool:
        """Return whether there are enough rows, and a compiler."""
        return self._store.count >= self._compile_from and is_available()

    def one(self, notification: NotificationRow) -> Found:
        """Return the matches of one notification, in no particular order."""
        row = np.frombuffer(bytearray(notification.row), np.uint8)
        if not self.is_compiled:
            groups = numpy_scan.candidates(self._store, notification.event, notification.feature, self._exact)
            self._count(len(groups), int(self._store.groups[groups, COUNT].sum()))
            return numpy_scan.scan(self._store, groups, row)
        event, feature = np.array([notification.event], np.uint8), np.array([notification.feature], np.int64)
        self._bits.refresh()
        return self._one_by_one(Notifications(row.reshape(1, -1), event, feature))[1]

    def many(
        self,
        rows: npt.NDArray[np.uint8],
        events: npt.NDArray[np.uint8],
        features: npt.NDArray[np.int64],
        together: bool | None = None,
    ) -> tuple[npt.NDArray[np.int64], Found]:
        """Return (ends, found): the matches of notification i are found[ends[i - 1]:ends[i]].

        Always compiled. `together` sets whether notifications share the reading of rows; by default they do
        if it pays.
        """
        is_in_bits = self._bits.refresh()
        notifications = Notifications(rows, events, features)
        if not is_in_bits and (together or (together is None and self._reads_memory())):
            asking, begins = self._paired(notifications)
            if together or len(asking) >= WORTH_SORTING * np.count_nonzero(np.diff(begins)):
                return self._together(rows, asking, begins)
        return self._one_by_one(notifications)

    def _one_by_one(self, notifications: Notifications) -> tuple[npt.NDArray[np.int64], Found]:
        from plugins.kernels.rows.scan import scan

        search: Any = compiled(scan)
        more: tuple[Any, ...] = ()
        if self._bits.is_used:
            from plugins.kernels.rows.bit_scan import scan_both

            search, more = compiled(scan_both), (self._bits.runs(notifications.rows.shape[1]),)
        ends = np.zeros(len(notifications.events), np.int64)
        arrays = self._arrays()
        while True:
            self._tally[:] = 0
            end = search(arrays, notifications, self._exact, self._room, ends, self._tally, *more)
            if end >= 0:
                self._count(*self._tally.tolist())
                return ends, (self._room.keys[:end], self._room.degrees[:end])
            self._make_room()

    def _reads_memory(self) -> bool:
        """Return whether the rows exceed the caches; computed again after changes."""
        if self._weighed != self._store.changes:
            self._weighed = self._store.changes
            self._is_beyond_caches = self._store.held_bytes > BEYOND_CACHES
        return self._is_beyond_caches

    def _paired(self, notifications: Notifications) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return (asking, begins): asking[begins[g]:begins[g + 1]] are the notifications that group g may
        serve.
        """
        from plugins.kernels.rows.batch import pair_up

        search: Any = compiled(pair_up)
        arrays = self._arrays()
        begins = np.zeros(self._store.group_count + 2, np.int64)
        room = 16 * len(notifications.events)
        while True:
            pairs, asking = np.empty((room, 2), np.int32), np.empty(room, np.int32)
            total = search(arrays, notifications, self._exact, self._room.visited, pairs, asking, begins)
            if total >= 0:
                return asking[:total], begins[:-1]
            room *= 4

    def _together(
        self, rows: npt.NDArray[np.uint8], asking: npt.NDArray[np.int32], begins: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], Found]:
        from plugins.kernels.rows import batch

        search: Any = compiled(batch.scan_together)
        counts = np.diff(begins)
        self._count(len(asking), int(counts @ self._store.groups[: len(counts), COUNT]))
        arrays = self._arrays()
        while True:
            made = int(search(arrays, rows, asking, begins, self._room, self._pieces))
            if made >= 0:
                break
            if made == batch.NO_ROOM:
                self._make_room()
            else:
                self._pieces = np.empty((2 * len(self._pieces) + 1024, 3), np.int64)
        ends = np.zeros(len(rows), np.int64)
        total = int(compiled(batch.ends_of)(self._pieces, made, ends))
        ordered = np.empty(total, np.uint32), np.empty(total, np.uint8)
        begins_of_events = ends.copy()
        compiled(batch.in_order)(
            self._pieces, made, begins_of_events, self._room.keys, self._room.degrees, *ordered
        )
        return ends, ordered

    def _count(self, groups: int, rows: int) -> None:
        """Count groups with a fitting feature, and their rows: independent of the search method."""
        self._work.feature_tests += groups
        self._work.rows += rows

    def _arrays(self) -> RowArrays:
        """Return the arrays of the store, and prepare the room for a search of them."""
        store = self._store
        if self._arrays_of_store is None or self._arrays_at != store.changes:
            self._arrays_at = store.changes
            self._arrays_of_store = RowArrays(
                store.arena,
                store.arena.view(np.uint32),
                store.records,
                store.groups,
                store.group_count,
                store.blocks,
                store.directory,
                store.patterns,
            )
            self._prepare_room()
        return self._arrays_of_store

    def _prepare_room(self) -> None:
        from plugins.kernels.rows.runs import SCRATCH_BYTES, SCRATCH_NUMBERS

        if not len(self._room.scratch):
            self._room = self._room._replace(
                scratch=np.zeros(SCRATCH_BYTES, np.uint8), numbers=np.zeros(SCRATCH_NUMBERS, np.int64)
            )
            self._make_room()
        if len(self._room.visited) < self._store.group_count:
            self._room = self._room._replace(visited=np.zeros(self._store.group_count + 64, np.int32))

    def _make_room(self) -> None:
        """Double the room for matches."""
        from plugins.kernels.rows.runs import ROOM

        room = max(2 * ROOM, 2 * len(self._room.keys))
        self._room = self._room._replace(keys=np.empty(room, np.uint32), degrees=np.empty(room, np.uint8))
