"""The batches of one index, each at the level that its policy chooses."""

from collections.abc import Iterator

from plugins.boxes.batch_search import BatchSearch, Clock
from plugins.boxes.index import Ids, LevelledIndex, Sides, Words
from plugins.boxes.levels import LevelPolicy, RanBatch


class OrderedBatches:
    """Runs batches by their workloads, and reports costs and index changes to the policy. With a clock it
    measures seconds, else units.
    """

    def __init__(self, index: LevelledIndex, policy: LevelPolicy, clock: Clock | None = None) -> None:
        self._index = index
        self._policy = policy
        self._clock = clock
        self._reloads = index.reloads

    def run(self, points: Sides, present: Words) -> Iterator[tuple[int, Ids]]:
        """Yield (position, ids of the boxes that contain it) as they are done. An unfinished batch, or one
        during which the index changed, is not learnt from.
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
        """Report added or removed boxes to the policy."""
        self._policy.updated(boxes, len(self._index))
