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

from plugins.boxes.index import Estimate, Ids, LevelledIndex, Sides, Words
from plugins.boxes.profile import Profile
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
