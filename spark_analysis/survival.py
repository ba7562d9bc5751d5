"""Kaplan–Meier estimates (1958) of censored times.

The only definition of medians, percentiles and shares "within a time" in reports, sweeps, the live view and
`dens contacts`. The p-th percentile is the least time t at which the estimated share of longer times is at
most 1 - p/100. It is not interpolated but an observed time; without censoring it is the nearest rank. If the
curve does not come down that far, the percentile is only known to be more than the longest observation.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

BINS_PER_DECADE: Final = 20
"""Points of a curve per factor of ten, which bounds its size."""
PERCENTS: Final = 101
"""Percentiles 0 to 100."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A distribution of times, in the unit of its input.

    `known` times ended, `censored` ones were observed only so far, and `never` counts those without an end.
    The mean is over the known ones.
    """

    known: int
    censored: int
    never: int
    mean: float | None
    longest: float | None
    """The longest observation, whatever its outcome."""
    longest_known: float | None
    percentiles: tuple[float | None, ...]
    """`percentiles[p]` for p from 0 to 100; None if the curve does not come down that far."""
    left: float | None
    """The estimated share of times longer than all observations; None without times."""
    survival: tuple[tuple[float, float], ...]
    """(time, estimated share longer than that) at the end of each non-empty bin: bin i holds the times in
    (10^((i-1)/n), 10^(i/n)] with n = `BINS_PER_DECADE`, bin 0 also everything shorter.
    """

    @property
    def median(self) -> float | None:
        return self.percentiles[50]


class KaplanMeier:
    """Takes `total` times in ascending order with bounded memory.

    A time censored at t is at risk at t and not after it (the standard convention). Times without an end are
    at risk throughout.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._at_risk = total
        self._left = 1.0
        self._share, self._since = 1.0, total
        """What was left at the last censoring, and how many were at risk after it: until the next one the
        share that is left is a fraction of whole numbers, and exact as one."""
        self._known = self._censored = self._taken = 0
        self._sum: float = 0
        self._longest: float | None = None
        self._longest_known: float | None = None
        self._percentiles: list[float | None] = []
        self._bins: dict[int, float] = {}

    def take(self, time: float, ended: int, censored: int, never: int = 0) -> None:
        """Take all times of exactly this length, which must exceed all earlier ones."""
        if self._longest is not None and time <= self._longest:
            raise ValueError(f"{time} is not longer than {self._longest}")
        self._longest = time
        self._taken += ended + censored + never
        if ended:
            self._known += ended
            self._sum += time * ended
            self._at_risk -= ended
            self._longest_known = time
            self._left = self._share * self._at_risk / self._since
            while len(self._percentiles) < PERCENTS and self._left <= (100 - len(self._percentiles)) / 100:
                self._percentiles.append(time)
        if censored:
            self._censored += censored
            self._at_risk -= censored
            self._share, self._since = self._left, self._at_risk
        self._bins[math.ceil(math.log10(max(time, 1.0)) * BINS_PER_DECADE)] = self._left

    def estimate(self) -> Estimate:
        if self._taken != self._total:
            raise ValueError(f"got {self._taken} times instead of {self._total}")
        return Estimate(
            known=self._known,
            censored=self._censored,
            never=self._total - self._known - self._censored,
            mean=self._sum / self._known if self._known else None,
            longest=self._longest,
            longest_known=self._longest_known,
            percentiles=(*self._percentiles, *[None] * (PERCENTS - len(self._percentiles))),
            left=self._left if self._total else None,
            survival=tuple((10 ** (bin_ / BINS_PER_DECADE), share) for bin_, share in self._bins.items()),
        )


def estimate(rows: Iterable[tuple[float, int, int, int]]) -> Estimate:
    """Return the estimate of (time, ended, censored, never) rows in any order, with repeated times."""
    table: dict[float, list[int]] = {}
    for time, *counts in rows:
        known = table.setdefault(time, [0, 0, 0])
        for position, count in enumerate(counts):
            known[position] += count
    found = KaplanMeier(sum(map(sum, table.values())))
    for time in sorted(table):
        found.take(time, *table[time])
    return found.estimate()
