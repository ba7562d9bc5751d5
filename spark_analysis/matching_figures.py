"""What mediators did to find out who a notification is for, as sums: found by Spark, or without it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

COUNTED_SINCE: Final = 4
"""The version of traces since which `matching_work` says what was done; before, matches had a cost."""

COUNTS: Final = ("feature_tests", "memberships", "aggregations", "pairs", "rows")
"""The steps that are counted, columns of `matching_work`."""

SUMMED: Final = ("notifications", "matches", *COUNTS, "cost_us")
"""Columns that are added up over the rows that name a notification."""
SUMS: Final = (*SUMMED, "late_us")


@dataclass(frozen=True, slots=True)
class MatchingDone:
    """Sums over mediators: notifications judged when they came, subscriptions that they satisfied, steps of
    each kind, and microseconds. `late_us` is what subscriptions took that came later than what they want.
    """

    notifications: int = 0
    matches: int = 0
    feature_tests: int = 0
    memberships: int = 0
    aggregations: int = 0
    pairs: int = 0
    rows: int = 0
    cost_us: float = 0.0
    late_us: float = 0.0

    @property
    def total_us(self) -> float:
        """Return how long matching took in all."""
        return self.cost_us + self.late_us

    @property
    def steps(self) -> int:
        """Return how many steps of any kind there were."""
        return self.feature_tests + self.memberships + self.aggregations + self.pairs + self.rows

    def each(self, sum: float) -> float | None:
        """Return a sum for each notification judged."""
        return sum / self.notifications if self.notifications else None


def matching_done(rows: Iterable[Mapping[str, Any]]) -> MatchingDone:
    """Add up rows that have these sums."""
    sums = dict.fromkeys(SUMS, 0)
    for row in rows:
        for name in SUMS:
            sums[name] += row[name] or 0
    return MatchingDone(**sums)


def total_matching(parts: Iterable[MatchingDone]) -> MatchingDone:
    """Add up what several groups did."""
    return matching_done(asdict(part) for part in parts)
