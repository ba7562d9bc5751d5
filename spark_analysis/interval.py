"""Means of few runs, and how far they can be trusted: Student's t at 95 %."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of `count` values and its confidence interval; of one value the interval is not known."""

    mean: float
    low: float | None
    high: float | None
    count: int

    def possible(self, *, share: bool) -> "Interval":
        """Return it as far as a figure can go: Student's t does not know that none is negative, and no share
        above 1.
        """
        if self.low is None or self.high is None:
            return self
        low = max(self.low, min(self.mean, 0.0))
        return Interval(self.mean, low, min(self.high, 1.0) if share else self.high, self.count)


def interval(values: Sequence[float]) -> Interval | None:
    """Return the mean and its 95 % confidence interval, or None of no values.

    The values are taken as independent draws, which runs with different seeds are. For two variants over the
    same seeds pass the differences: what the seeds share then cancels out.
    """
    count = len(values)
    if not count:
        return None
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(mean, None, None, 1)
    from scipy.special import stdtrit  # a large import that only several runs need

    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * spread / math.sqrt(count)
    return Interval(mean, mean - half, mean + half, count)
