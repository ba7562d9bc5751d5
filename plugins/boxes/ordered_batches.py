"""The batches of one index, each at the level that a policy of its own chooses."""

from collections.abc import Iterator

from plugins.boxes.batch_search import BatchSearch, Clock
from plugins.boxes.index import Ids, LevelledIndex, Sides, Words
from plugins.boxes.levels import LevelPolicy, RanBatch


class OrderedBatches:
    """Runs batches by their workloads, and tells the policy what they took and how the index changes. With a
    clock it learns seconds, otherwise units.
    """

    def __init__(self, index: LevelledIndex, policy: LevelPolicy, clock: Clock | None = None) -> None:
        self._index = index
        self._policy = policy
        self._clock = clock
        self._reloads = index.reloads

    def run(self, points: Sides, present: Words) -> Iterator[tuple[int, Ids]]:
        """Yield (position, ids of the boxes that contain it) as they are done. A batch that is left
        unfinished, or during which the index changed, teaches nothing.
        """
        index, policy = self._index, self._policy
        if index.reloads != self._reloads:
            self._reloads = index.reloads
            policy.reloaded()
        version = index.version
        batch = BatchSearch(index, points, present, policy.level(len(points), index.height), self._clock)
        yield from batch.results()
        if index.version == version:
            trace = batch.trace
            response = trace.response if self._clock is None else trace.response_s
            policy.ran(RanBatch(len(points), trace.level, response, batch.profile()))

    def updated(self, boxes: int) -> None:
        """Tell the policy that so many boxes came or went."""
        self._policy.updated(boxes, len(self._index))
