"""What batches take, in units and in seconds: every level, and without BatchSearch at all."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dens_experiments.batch.settings import Settings
from dens_experiments.batch.workload import Bytes, present
from dens_experiments.panel import Line
from dens_experiments.sampling import Sample, line_of
from plugins.boxes.batch_search import BatchSearch, BatchTrace
from plugins.boxes.profile import Profile, expected
from plugins.boxes.rtree import RTreeIndex

MILLISECONDS = 1e3


@dataclass(frozen=True, slots=True)
class Levels:
    """The average response of batches at every level, and without BatchSearch: the expectation over all
    orders of arrival. Milliseconds and units.
    """

    ms: list[float]
    units: list[float]
    none_ms: float
    none_units: float

    @property
    def best(self) -> int:
        """Return the level that takes the fewest units."""
        return _least(self.units)

    @property
    def best_in_time(self) -> int:
        """Return the level that takes the least time."""
        return _least(self.ms)


def _least(values: Sequence[float]) -> int:
    return min(range(len(values)), key=lambda at: (values[at], at)) + 1


def batches_of(events: Bytes, size: int, count: int, first: int = 0) -> Iterator[Bytes]:
    """Yield so many batches of events, from the front again where there are no more."""
    for number in range(first, first + count):
        yield events[np.arange(number * size, (number + 1) * size) % len(events)]


def ran(index: RTreeIndex, batch: Bytes, level: int) -> BatchTrace:
    """Run one batch at a level, timed."""
    search = BatchSearch(index, batch, present(batch), level, time.process_time)
    for _ in search.results():
        pass
    return search.trace


def none_ms(trace: BatchTrace) -> float:
    """Return what a batch that ran in order of arrival takes on average over all orders."""
    spent = [after - before for before, after in pairwise([0.0, *trace.done_s])]
    return MILLISECONDS * (len(spent) + 1) / 2 * sum(spent) / len(spent)


def profile_of(index: RTreeIndex, events: Bytes) -> Profile:
    """Return the statistics of every level over the searches of all events."""
    _, _, counts = index.counted(events, present(events))
    return index.profile(events, present(events), counts)


def levels_of(index: RTreeIndex, events: Bytes, size: int, settings: Settings) -> Levels:
    """Measure batches of a size at every level, the same batches at each."""
    units = expected(profile_of(index, events), size)
    chosen = list(batches_of(events, size, settings.timed(size)))
    ms, without = [], []
    for level in range(1, index.height + 1):
        traces = [ran(index, batch, level) for batch in chosen]
        ms.append(MILLISECONDS * sum(trace.response_s for trace in traces) / len(traces))
        if level == 1:
            without = [none_ms(trace) for trace in traces]
    return Levels(ms, units, sum(without) / len(without), units[0])


def line(points: Sequence[Sequence[tuple[float, float]]]) -> Line:
    """Return a line of (milliseconds, units), by point and seed."""
    return line_of([[Sample(ms, {"units": units}) for ms, units in samples] for samples in points])
