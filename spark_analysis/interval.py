"""Means over few runs with confidence intervals (Student's t, 95 %)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of `count` values and its confidence interval, which is unknown for one value."""

    mean: float
    low: float | None
    high: float | None
    count: int

    def possible(self, *, share: bool) -> "Interval":
        """Clip the interval to possible values: no figure is negative, and no share exceeds 1."""
        if self.low is None or self.high is None:
            return self
        low = max(self.low, min(self.mean, 0.0))
        return Interval(self.mean, low, min(self.high, 1.0) if share else self.high, self.count)


def interval(values: Sequence[float]) -> Interval | None:
    """Return the mean and its 95 % confidence interval; None without values.

    The values are treated as independent samples, which runs with different seeds are. To compare two
    variants over the same seeds pass the differences.
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
