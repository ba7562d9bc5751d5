"""Boxes of many subscriptions in indexes, one per event class, with their owners."""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_manager.mission_table import MissionTable
from plugins.boxes.batch_search import OrderedBatches
from plugins.boxes.index import BoxIndex, Ids, Numbers, Sides, Words
from plugins.boxes.indexes import levelled
from plugins.boxes.levels import LevelPolicy
from plugins.boxes.vectors import LAST_BYTE, BoxesBody

UPKEEP: Final = 64
"""Index maintenance per new box: a box is moved about this often until its final place."""

PolicyFactory = Callable[[], LevelPolicy]

Owned = tuple[Numbers, Numbers, npt.NDArray[np.uint8]]
"""(ends, numbers, boxes): the subscriptions of point i, each once, with the first box that contains it."""


class ClassBoxes:
    """The boxes of one event class. Columns are its attributes in index order."""

    def __init__(self, attributes: list[int], index: BoxIndex) -> None:
        self.attributes = attributes
        self.index = index
        self.batches: OrderedBatches | None = None
        """Runs batches by their workloads, if enabled."""
        self._columns = {attribute: column for column, attribute in enumerate(attributes)}
        self._free: list[int] = []
        self._used = 0
        self._numbers: Numbers = np.zeros(64, np.int64)
        self._boxes: npt.NDArray[np.uint8] = np.zeros(64, np.uint8)

    def add(self, number: int, parts: BoxesBody) -> Ids:
        """Add the boxes of a subscription; return their ids."""
        ids = np.array([self._take() for _ in parts.boxes], np.uint32)
        sides = np.zeros((len(ids), 2 * len(self.attributes)), np.uint8)
        sides[:, len(self.attributes) :] = LAST_BYTE
        needs = np.zeros(len(ids), np.uint64)
        for row, box in enumerate(parts.boxes):
            for attribute, low, high in box:
                column = self._columns[attribute]
                sides[row, column], sides[row, len(self.attributes) + column] = low, high
                needs[row] |= np.uint64(1 << column)
        self._numbers[ids], self._boxes[ids] = number, np.arange(len(ids))
        self.index.add(ids, sides, needs)
        self._updated(len(ids))
        return ids

    def remove(self, ids: Ids) -> None:
        self.index.remove(ids)
        self._updated(len(ids))
        self._free += ids.tolist()

    def order_by(self, make_policy: PolicyFactory) -> None:
        """Run batches by their workloads from now on, with a new policy, if the index has levels."""
        index = levelled(self.index)
        self.batches = None if index is None else OrderedBatches(index, make_policy())

    def points(self, rows: npt.NDArray[np.uint8], features: Numbers) -> tuple[Sides, Words]:
        """Return readings, one byte per attribute index, as points with their attributes."""
        present = np.zeros(len(rows), np.uint64)
        for column, attribute in enumerate(self.attributes):
            present |= (features.astype(np.uint64) >> np.uint64(attribute) & np.uint64(1)) << np.uint64(
                column
            )
        return np.ascontiguousarray(rows[:, self.attributes]), present

    def owned(self, ends: Numbers, ids: Ids) -> Owned:
        """Return the owners of boxes."""
        owners = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        numbers, boxes = self._numbers[ids], self._boxes[ids]
        order = np.lexsort((boxes, numbers, owners))
        owners, numbers, boxes = owners[order], numbers[order], boxes[order]
        first = np.ones(len(ids), np.bool_)
        first[1:] = (np.diff(owners) != 0) | (np.diff(numbers) != 0)
        counts = np.bincount(owners[first], minlength=len(ends))
        return np.cumsum(counts), numbers[first], boxes[first]

    def _updated(self, boxes: int) -> None:
        """Let the index maintain itself after a change, and inform the policy."""
        self.index.maintain(UPKEEP * boxes)
        if self.batches is not None:
            self.batches.updated(boxes)

    def _take(self) -> int:
        if self._free:
            return self._free.pop()
        self._used += 1
        if self._used > len(self._numbers):
            self._numbers = np.concatenate([self._numbers, np.zeros_like(self._numbers)])
            self._boxes = np.concatenate([self._boxes, np.zeros_like(self._boxes)])
        return self._used - 1


class HeldBoxes:
    """Subscriptions, numbered by the caller, in one index per event class."""

    def __init__(
        self,
        table: MissionTable | None,
        feature_bytes: int,
        make_index: Callable[[int, npt.DTypeLike], BoxIndex],
    ) -> None:
        self._table = table
        self._width = feature_bytes
        self._make_index = make_index
        self._make_policy: PolicyFactory | None = None
        self._classes: dict[int, ClassBoxes] = {}
        self._ids: dict[int, tuple[int, Ids]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def height(self) -> int:
        """Return the height of the highest index; an index without levels counts as 1."""
        indexes = (levelled(held.index) for held in self._classes.values())
        return max((index.height for index in indexes if index is not None), default=1)

    def order_by(self, make_policy: PolicyFactory) -> None:
        """Run batches by their workloads from now on, with one policy per event class."""
        self._make_policy = make_policy
        for held in self._classes.values():
            held.order_by(make_policy)

    def add(self, number: int, parts: BoxesBody) -> None:
        """Add a subscription; a known number is replaced."""
        self.remove(number)
        held = self._classes.get(parts.event)
        if held is None:
            attributes = self._attributes(parts.event)
            held = ClassBoxes(attributes, self._make_index(len(attributes), np.uint8))
            if self._make_policy is not None:
                held.order_by(self._make_policy)
            self._classes[parts.event] = held
        self._ids[number] = parts.event, held.add(number, parts)

    def remove(self, number: int) -> None:
        """Remove a subscription; an unknown number is ignored."""
        if number in self._ids:
            event, ids = self._ids.pop(number)
            self._classes[event].remove(ids)

    def of_class(self, event: int) -> ClassBoxes | None:
        """Return the boxes of an event class, or None if there are none."""
        return self._classes.get(event)

    def _attributes(self, event: int) -> list[int]:
        if self._table is None:
            return list(range(8 * self._width - 1))
        return sorted(attribute.index for attribute in self._table.event_at(event).attributes)
