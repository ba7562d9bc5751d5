"""Ground truth of the fuzzy language: few readings one by one, many through the compiled search.

Ground truth has no feature condition. A reading matches each subscription whose attributes it contains and
that it satisfies (`subset`); what a mission loses by another condition shows in its reports.

Evaluating few pairs is faster than loading compiled code; from `TOGETHER_FROM` pairs on all subscriptions
move into columns, and whole batches are searched there (`plugins.fuzzy.matching.fast`).
"""

from typing import Final

import numpy as np

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import AGGREGATOR_AT
from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.matching.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.ground_truth import Bytes, Judged, MatcherTruth, ReadingColumns
from plugins.kernels.compiled import is_available
from watchdog.aggregators import has_block

TOGETHER_FROM: Final = 200_000
"""Pairs in a batch from which compiled code is faster, including its loading."""

_SUBSET: Final = FEATURE_CONDITIONS[0]


class FuzzyGroundTruth:
    """Evaluates readings by the matcher of a DENS node."""

    def __init__(self, table: MissionTable | None, feature_bytes: int = 1) -> None:
        self._feature_bytes = feature_bytes if table is None else table.feature_bytes
        matcher = ALGORITHMS[DEFAULT_ALGORITHM](table, _SUBSET, self._feature_bytes)
        self._singly = MatcherTruth(matcher, complete_notification)
        self._together: FastMatcher | None = None
        self._bodies: dict[int, bytes] = {}
        self._new: dict[int, bytes] = {}
        """Subscriptions that are not in the columns yet, to be added together."""

    @property
    def is_compiled(self) -> bool:
        """Return whether whole batches are searched at once."""
        return self._together is not None

    def add(self, number: int, body: bytes) -> None:
        self._bodies[number] = body
        if self._together is None:
            self._singly.add(number, body)
        else:
            self._new[number] = body

    def remove(self, number: int) -> None:
        del self._bodies[number]
        if self._together is None:
            self._singly.remove(number)
        elif self._new.pop(number, None) is None:
            self._together.remove((number >> 8, number & 255))

    def judge(self, readings: ReadingColumns) -> Judged:
        """Return the subscriptions that each reading satisfies, at any age."""
        if self._together is None and len(self._bodies) * len(readings) >= TOGETHER_FROM and is_available():
            self._together = FastMatcher(None, _SUBSET, self._feature_bytes, columns_from=0)
            self._new = dict(self._bodies)
        if self._together is None:
            return self._singly.judge(readings)
        self._put_in(self._together)
        ends, (keys, degrees) = self._together.search.many(readings.rows, readings.events, readings.features)
        return ends, keys, degrees

    def _put_in(self, columns: FastMatcher) -> None:
        """Add new subscriptions to the columns: bodies of one length without a block form a table."""
        tables: dict[int, list[int]] = {}
        for number, body in self._new.items():
            if has_block(body[AGGREGATOR_AT] & 15):
                columns.add((number >> 8, number & 255), body)
            else:
                tables.setdefault(len(body), []).append(number)
        for length, numbers in tables.items():
            joined = b"".join(self._new[number] for number in numbers)
            columns.add_all(np.array(numbers, np.uint32), np.frombuffer(joined, np.uint8).reshape(-1, length))
        self._new.clear()


def complete_notification(event: int, feature: int, row: Bytes, exact: bytes | None) -> bytes | None:
    """Return the notification vector (docs/reference/vector-format.md) of a complete reading, or None if it
    has no value.
    """
    if not feature:
        return None
    width = len(row) // 8
    values = bytes(int(byte) for index, byte in enumerate(row) if feature >> index & 1)
    return bytes(6) + values + (1 << event).to_bytes(width, "big") + feature.to_bytes(width, "big")
