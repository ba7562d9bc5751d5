"""BatchSearch of Wang, Zhang and Kitsuregawa: estimate the work of every event of a batch, then search the
cheapest first.

Estimating at a level descends partly with all events at once; the number of places of the index that an event
has left is its *workload* (the paper's WorkloadTable). Each search then continues from its places. Level 1
estimates nothing and keeps the order of arrival. On the paper's tree, estimate and searches together make
exactly the tests of separate searches, at every level; only the order of completion changes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plugins.boxes.index import Estimate, Ids, LevelledIndex, Sides, Words
from plugins.boxes.levels import LevelPolicy, RanBatch
from plugins.boxes.profile import UNITS, Prices, Profile
from plugins.boxes.workload import average_response, order_by_workload

PLACES_AN_EVENT: Final = 4_096
"""A WorkloadTable with more places per event stops one level higher."""

Clock = Callable[[], float]
"""Returns seconds."""


@dataclass(slots=True)
class BatchTrace:
    """Costs of a batch, in units and, with a clock, in seconds. Complete once all results were taken."""

    level: int
    """Level of the estimate; lower than requested if the table was full."""
    order: list[int] = field(default_factory=list)
    workloads: list[int] = field(default_factory=list)
    estimate: int = 0
    """Units of the estimate."""
    work: list[int] = field(default_factory=list)
    """Units of the search of each event after the estimate, by position."""
    estimate_s: float = 0.0
    """Seconds of the estimate."""
    done_s: list[float] = field(default_factory=list)
    """Completion time of each event, in the order of execution, from the start of the batch."""
    stopped_higher: int = 0
    """How often the WorkloadTable was full."""

    @property
    def response(self) -> float:
        """Return the average response time in units."""
        return float(average_response(self.work, self.order, self.estimate))

    @property
    def response_s(self) -> float:
        """Return the average response time in seconds, 0 without a clock."""
        return sum(self.done_s) / len(self.done_s) if self.done_s else 0.0


class BatchSearch:
    """Searches one batch. `trace` fills as results are taken."""

    def __init__(
        self, index: LevelledIndex, points: Sides, present: Words, level: int, clock: Clock | None = None
    ) -> None:
        self._index = index
        self._points = points
        self._present = present
        self._clock = clock
        self._began = 0.0 if clock is None else clock()
        self.trace = BatchTrace(level, work=[0] * len(points))
        self._version = index.version
        self._known = self._estimated(level)
        self.trace.estimate_s = 0.0 if clock is None else clock() - self._began

    def results(self) -> Iterator[tuple[int, Ids]]:
        """Yield (position, ids of the boxes that contain it), the least workload first. If the index has
        changed since the estimate, the search starts at the root.
        """
        index, counts = self._index, self._known.counts
        for position in self.trace.order:
            own, start = counts[position], self._known.starts[position]
            if index.version != self._version:
                own[:], start = 0, None
            before = int(index.units(own))
            found = index.search_from(start, self._points, position, self._present, own)
            self.trace.work[position] = int(index.units(own)) - before
            if self._clock is not None:
                self.trace.done_s.append(self._clock() - self._began)
            yield position, found

    def profile(self) -> Profile:
        """Return the profile of all levels, once all searches are done."""
        return self._index.profile(self._points, self._present, self._known.counts)

    def _estimated(self, level: int) -> Estimate:
        """Fill the WorkloadTable and order the events."""
        count, trace, index = len(self._points), self.trace, self._index
        level = min(level, index.height)
        known = None
        while known is None:
            if level < 2 or count < 2:
                level, known = 1, index.unestimated(count)
            else:
                known = index.estimated(self._points, self._present, level, PLACES_AN_EVENT * count)
            if known is None:
                level -= 1
                trace.stopped_higher += 1
        trace.level, trace.workloads = level, known.workloads
        trace.estimate = int(index.units(known.counts).sum())
        trace.order = order_by_workload(known.workloads)
        return known


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


def measured_prices(index: LevelledIndex, points: Sides, present: Words, clock: Clock) -> Prices:
    """Return the best fit to the estimates of a batch at all levels, in tests of its searches; units if there
    is nothing to fit.
    """
    tests, seconds, searched, spent = [], [], 0, 0.0
    for level in range(2, index.height + 1):
        batch = BatchSearch(index, points, present, level, clock)
        for _ in batch.results():
            pass
        tests.append(float(batch.trace.estimate))
        seconds.append(batch.trace.estimate_s)
        searched += sum(batch.trace.work)
        spent += batch.trace.done_s[-1] - batch.trace.estimate_s if len(points) else 0.0
    if len(tests) < 2 or not searched or spent <= 0:
        return UNITS
    of_a_test = spent / searched
    slope, fixed = np.polyfit(tests, seconds, 1)
    return Prices(max(float(slope), 0.0) / of_a_test, max(float(fixed), 0.0) / of_a_test)
