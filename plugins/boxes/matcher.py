"""Finds the subscriptions whose boxes contain a notification of the boards' language, or a reading."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np

from knowledge_manager.mission_table import MissionTable
from plugins.board_parts import notification_values
from plugins.boxes.held_boxes import ClassBoxes, HeldBoxes, PolicyFactory
from plugins.boxes.index import Sides, Words
from plugins.boxes.indexes import DEFAULT_INDEX, INDEXES
from plugins.boxes.levels import DEFAULT_POLICY, POLICIES, Fixed
from plugins.boxes.vectors import decode_body
from plugins.ground_truth import Judged, ReadingColumns
from plugins.language import Match, SubscriptionKey
from watchdog.vector import VectorError

FULLY: Final = 255
"""A match is always full."""

Hits = tuple[list[int], list[int]]
"""Numbers of subscriptions, and for each the first box that contains a notification."""


class BoxMatcher:
    """Holds subscriptions in an index. The detail of a match is the first box that contains the
    notification.
    """

    def __init__(
        self,
        table: MissionTable | None,
        index: str,
        feature_bytes: int = 1,
        policy: PolicyFactory | None = None,
    ) -> None:
        self._is_ordered = policy is not None
        self._table = table
        self._width = feature_bytes if table is None else table.feature_bytes
        self._held = HeldBoxes(table, self._width, INDEXES[index])
        if policy is not None:
            self._held.order_by(policy)
        self._numbers: dict[SubscriptionKey, int] = {}
        self._keys: dict[int, SubscriptionKey] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription; a known key is replaced. An invalid body raises `VectorError` and changes
        nothing.
        """
        parts = decode_body(body, self._width, self._table)
        self.remove(key)
        self._held.add(self._next, parts)
        self._numbers[key], self._keys[self._next] = self._next, key
        self._next += 1

    def remove(self, key: SubscriptionKey) -> None:
        number = self._numbers.pop(key, None)
        if number is not None:
            del self._keys[number]
            self._held.remove(number)

    def use_level(self, level: int | None) -> None:
        """Order batches by workload from now on, estimated at this level; None chooses the best. An unknown
        level raises `ValueError`.
        """
        highest = self._held.height
        if level is not None and not 1 <= level <= highest:
            raise ValueError(f"unknown level {level} (1 to {highest})")
        self._held.order_by(POLICIES[DEFAULT_POLICY] if level is None else partial(Fixed, level))
        self._is_ordered = True

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        return self._matches(self._found([vector])[0])

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Return an iterator over the matches of each notification in order; an invalid vector raises
        `VectorError` in its turn. All are searched now; subscriptions removed later are excluded.

        With a policy for levels, and an index with levels, they come in the order of their estimated work
        (`plugins.boxes.batch_search`), the invalid ones last.
        """
        if self._is_ordered:
            return self._by_workload([vector for vector, _ in notifications], self._next)
        return self._in_order(self._found([vector for vector, _ in notifications]))

    def _by_workload(self, vectors: Sequence[bytes], limit: int) -> Iterator[tuple[int, list[Match]]]:
        """Yield matches class by class, each as a batch; subscriptions added after `limit` are excluded."""
        asking, bad = _asking(vectors, self._width)
        for event, notifications in asking.items():
            held = self._held.of_class(event)
            if held is None or held.batches is None:
                found = self._found([vectors[position] for position, _ in notifications])
                yield from ((notifications[at][0], self._matches(hits)) for at, hits in enumerate(found))
                continue
            for at, ids in held.batches.run(*points_of(held, [values for _, values in notifications])):
                _, numbers, boxes = held.owned(np.array([len(ids)]), ids)
                old = numbers < limit
                yield notifications[at][0], self._matches((numbers[old].tolist(), boxes[old].tolist()))
        for error in bad.values():
            raise error

    def _in_order(self, found: list[Hits | VectorError]) -> Iterator[tuple[int, list[Match]]]:
        for position, hits in enumerate(found):
            yield position, self._matches(hits)

    def _found(self, vectors: Sequence[bytes]) -> list[Hits | VectorError]:
        """Return, for each notification, the boxes that contain it, or why it is invalid."""
        asking, bad = _asking(vectors, self._width)
        found: list[Hits | VectorError] = [bad.get(at, ([], [])) for at in range(len(vectors))]
        for event, notifications in asking.items():
            held = self._held.of_class(event)
            if held is not None:
                for (position, _), hits in zip(
                    notifications, _hits(held, [values for _, values in notifications]), strict=True
                ):
                    found[position] = hits
        return found

    def _matches(self, hits: Hits | VectorError) -> list[Match]:
        """Return matches of subscriptions that are still held, by key."""
        if isinstance(hits, VectorError):
            raise hits
        pairs = [(self._keys[number], box) for number, box in zip(*hits, strict=True) if number in self._keys]
        return [Match(key, FULLY, bytes((box,))) for key, box in sorted(pairs)]


def _asking(
    vectors: Sequence[bytes], width: int
) -> tuple[dict[int, list[tuple[int, dict[int, int]]]], dict[int, VectorError]]:
    """Return the values of notifications, with their positions, by event class; and why others
    are invalid.
    """
    asking: dict[int, list[tuple[int, dict[int, int]]]] = {}
    bad: dict[int, VectorError] = {}
    for position, vector in enumerate(vectors):
        try:
            event, values = notification_values(vector, width)
        except VectorError as error:
            bad[position] = error
        else:
            asking.setdefault(event, []).append((position, values))
    return asking, bad


def points_of(held: ClassBoxes, notifications: Sequence[dict[int, int]]) -> tuple[Sides, Words]:
    """Return the values of notifications as points of their event class; other attributes are ignored."""
    points = np.zeros((len(notifications), len(held.attributes)), np.uint8)
    present = np.zeros(len(notifications), np.uint64)
    for row, values in enumerate(notifications):
        for column, attribute in enumerate(held.attributes):
            if attribute in values:
                points[row, column] = values[attribute]
                present[row] |= np.uint64(1 << column)
    return points, present


def _hits(held: ClassBoxes, notifications: Sequence[dict[int, int]]) -> Iterator[Hits]:
    search = held.index.search if len(notifications) == 1 else held.index.search_together
    ends, numbers, boxes = held.owned(*search(*points_of(held, notifications)))
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        yield numbers[begin:end].tolist(), boxes[begin:end].tolist()


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
