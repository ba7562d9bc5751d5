"""Sums of the matching work of mediators, for Spark and without it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

COUNTED_SINCE: Final = 4
"""Trace version that introduced `matching_work`; before, only matches had a cost."""

COUNTS: Final = ("feature_tests", "memberships", "aggregations", "pairs", "rows")
"""The counted steps, which are columns of `matching_work`."""

SUMMED: Final = ("notifications", "matches", *COUNTS, "cost_us")
"""Columns that are summed over the rows with a notification."""
SUMS: Final = (*SUMMED, "late_us")


@dataclass(frozen=True, slots=True)
class MatchingWork:
    """Sums over mediators: notifications matched on arrival, matches, steps by kind, and microseconds.
    `late_us` is the cost of subscriptions that arrived after their notifications.
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
        return self.cost_us + self.late_us

    @property
    def steps(self) -> int:
        """Return the steps of all kinds."""
        return self.feature_tests + self.memberships + self.aggregations + self.pairs + self.rows

    def each(self, sum: float) -> float | None:
        """Return a sum per matched notification."""
        return sum / self.notifications if self.notifications else None


def sum_matching(rows: Iterable[Mapping[str, Any]]) -> MatchingWork:
    """Sum rows with these columns."""
    sums = dict.fromkeys(SUMS, 0)
    for row in rows:
        for name in SUMS:
            sums[name] += row[name] or 0
    return MatchingWork(**sums)


def total_matching(parts: Iterable[MatchingWork]) -> MatchingWork:
    """Sum the work of several groups."""
    return sum_matching(asdict(part) for part in parts)
