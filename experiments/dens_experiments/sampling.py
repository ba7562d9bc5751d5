"""How values are taken: the least processor time of some repetitions, at every point and with every seed.

What is compared is timed in turns, so that what else the machine does falls on all alike.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dens_experiments.panel import Line

Tell = Callable[[str], None]
"""Hears what is measured now."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One value, and the work that was counted for it."""

    value: float
    work: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Timed:
    """Something to be timed that performs `each` unit of work, and the work that was counted for it."""

    action: Callable[[], object]
    each: int
    work: Mapping[str, float]


def timed_in_turns(
    points: Sequence[int],
    seeds: Sequence[int],
    repetitions: int,
    prepared: Callable[[int, int], Mapping[str, Timed]],
    tell: Tell,
) -> dict[str, Line]:
    """Return a line for each name that is prepared at every point and seed, in milliseconds."""
    taken: dict[str, list[list[Sample]]] = {}
    for place, point in enumerate(points):
        for seed in seeds:
            tell(f"{point:,}, seed {seed}")
            ready = prepared(point, seed)
            for name, seconds in least_seconds(ready, repetitions).items():
                samples = taken.setdefault(name, [[] for _ in points])
                samples[place].append(Sample(seconds / ready[name].each * 1e3, ready[name].work))
    return {name: line_of(samples) for name, samples in taken.items()}


def least_seconds(ready: Mapping[str, Timed], repetitions: int) -> dict[str, float]:
    """Return the least processor time of each: whatever else the machine does can only add to it."""
    least = dict.fromkeys(ready, float("inf"))
    for _ in range(repetitions):
        for name, timed in ready.items():
            begin = time.process_time()
            timed.action()
            least[name] = min(least[name], time.process_time() - begin)
    return least


def sampled(
    name: str,
    points: Sequence[int],
    seeds: Sequence[int],
    take: Callable[[int, int], Sample],
    tell: Tell,
) -> Line:
    """Take a sample at every point with every seed."""
    taken = []
    for point in points:
        tell(f"{name}, {point:,}")
        taken.append([take(point, seed) for seed in seeds])
    return line_of(taken)


def line_of(taken: Sequence[Sequence[Sample]]) -> Line:
    """Return a line of samples by point and seed; counted work becomes its mean over the seeds."""
    kinds = dict.fromkeys(kind for samples in taken for sample in samples for kind in sample.work)
    work = {
        kind: tuple(sum(sample.work.get(kind, 0.0) for sample in samples) / len(samples) for samples in taken)
        for kind in kinds
    }
    return Line(tuple(tuple(sample.value for sample in samples) for samples in taken), work)
