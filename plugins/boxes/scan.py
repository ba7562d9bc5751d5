"""`scan`: tests every box. It is the definition of the other indexes."""

import numpy as np
import numpy.typing as npt

from plugins.boxes.index import Found, Ids, Numbers, Sides, Words


class ScanIndex:
    """Boxes in rows; a removed one is overwritten by the last."""

    def __init__(self, attributes: int, cell: npt.DTypeLike = np.uint8) -> None:
        self._attributes = attributes
        self._sides = np.zeros((0, 2 * attributes), cell)
        self._needs = np.zeros(0, np.uint64)
        self._ids = np.zeros(0, np.uint32)
        self._rows: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, ids: Ids, sides: Sides, needs: Words) -> None:
        self.remove(ids)
        begin, end = len(self), len(self) + len(ids)
        if end > len(self._ids):
            more = max(end, 2 * len(self._ids)) - len(self._ids)
            self._sides = np.concatenate([self._sides, np.zeros((more, 2 * self._attributes), sides.dtype)])
            self._needs = np.concatenate([self._needs, np.zeros(more, np.uint64)])
            self._ids = np.concatenate([self._ids, np.zeros(more, np.uint32)])
        self._sides[begin:end], self._needs[begin:end], self._ids[begin:end] = sides, needs, ids
        self._rows.update(zip(ids.tolist(), range(begin, end), strict=True))

    def remove(self, ids: Ids) -> None:
        for box in ids.tolist():
            row = self._rows.pop(box, None)
            if row is None:
                continue
            last = len(self._rows)
            if row != last:
                moved = int(self._ids[last])
                for column in (self._sides, self._needs, self._ids):
                    column[row] = column[last]
                self._rows[moved] = row

    def search(self, points: Sides, present: Words, units: Numbers | None = None) -> Found:
        held, k = len(self), self._attributes
        found = []
        for point, has in zip(points, present, strict=True):
            counts = (has >> np.arange(k, dtype=np.uint64)) & np.uint64(1) == 1
            lows, highs = self._sides[:held, :k], self._sides[:held, k:]
            inside = (((lows <= point) & (point <= highs)) | ~counts).all(axis=1)
            inside &= self._needs[:held] & ~has == 0
            found.append(self._ids[:held][inside])
        if units is not None:
            units += held
        ends = np.cumsum([len(ids) for ids in found], dtype=np.int64)
        return ends, np.concatenate(found) if found else np.zeros(0, np.uint32)

    def search_together(self, points: Sides, present: Words) -> Found:
        return self.search(points, present)

    def maintain(self, budget: int) -> bool:
        """Return False: rows need no order."""
        return False

    def reload(self) -> None:
        pass
