"""Ground truth of boxes: complete columns of readings, block by block."""

import numpy as np

from knowledge_manager.mission_table import MissionTable
from plugins.boxes.held_boxes import HeldBoxes
from plugins.boxes.indexes import DEFAULT_INDEX, INDEXES
from plugins.boxes.vectors import decode_body
from plugins.ground_truth import Judged, ReadingColumns


class BoxGroundTruth:
    """Evaluates readings by the index of a DENS node."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._held = HeldBoxes(table, table.feature_bytes, INDEXES[DEFAULT_INDEX])

    def add(self, number: int, body: bytes) -> None:
        self._held.add(number, decode_body(body, self._table.feature_bytes, self._table))

    def remove(self, number: int) -> None:
        self._held.remove(number)

    def judge(self, readings: ReadingColumns) -> Judged:
        """Return the subscriptions that each reading satisfies; a match is always full."""
        counts = np.zeros(len(readings), np.int64)
        parts: list[tuple[np.ndarray, np.ndarray]] = []
        for event in np.unique(readings.events).tolist():
            held = self._held.of_class(event)
            if held is None:
                continue
            own = np.flatnonzero(readings.events == event)
            points, present = held.points(readings.rows[own], readings.features[own])
            ends, numbers, _ = held.owned(*held.index.search_together(points, present))
            counts[own] = np.diff(ends, prepend=0)
            parts.append((np.repeat(own, counts[own]), numbers))
        if not parts:
            return counts, np.zeros(0, np.uint32), np.zeros(0, np.uint8)
        owners, found = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        keys = found[np.argsort(owners, kind="stable")].astype(np.uint32)
        return np.cumsum(counts), keys, np.full(len(keys), 255, np.uint8)
