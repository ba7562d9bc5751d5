"""Time of matching on a device, from counted steps (docs/explanation/matching.md, Counted work).

Time is counted and not measured, so it is the same in every run and on every machine.
"""

from dataclasses import dataclass

from plugins.matching_work import MatchingWork


@dataclass(frozen=True, slots=True)
class MatchingCosts:
    """Microseconds of each step that `MatchingWork` counts."""

    feature_test_us: float = 0.0
    membership_us: float = 0.0
    aggregation_us: float = 0.0
    pair_us: float = 0.0
    row_us: float = 0.0

    def of(self, work: MatchingWork) -> float:
        """Return the time of this work."""
        return (
            work.feature_tests * self.feature_test_us
            + work.memberships * self.membership_us
            + work.aggregations * self.aggregation_us
            + work.pairs * self.pair_us
            + work.rows * self.row_us
        )

    def __add__(self, other: "MatchingCosts") -> "MatchingCosts":
        return MatchingCosts(
            self.feature_test_us + other.feature_test_us,
            self.membership_us + other.membership_us,
            self.aggregation_us + other.aggregation_us,
            self.pair_us + other.pair_us,
            self.row_us + other.row_us,
        )
