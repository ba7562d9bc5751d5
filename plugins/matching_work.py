"""Work counters of matchers: equal on every machine.

A matcher that counts has an attribute `work`, which grows with every notification it matches. To measure one
notification, compare before and after (`taken`, `since`). What the counts cost in time on a device is defined
in `emulation.devices.matching_costs`.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class MatchingWork:
    """Steps of one matcher since its creation."""

    feature_tests: int = 0
    """Tests of the feature of a subscription, or of a group that shares one, against a notification's."""
    memberships: int = 0
    """Evaluations of a value by one predicate."""
    aggregations: int = 0
    """Aggregations of the degrees of a subscription."""
    pairs: int = 0
    """Pairs of degrees related by break-down (the paper's fuzzy relational products)."""
    rows: int = 0
    """Subscriptions evaluated in columns; their memberships and aggregations are not counted individually."""

    @property
    def units(self) -> int:
        """Return the counts as units of work (dens/overlay/session/work_budget.py). Rows are evaluated in
        blocks of 64.
        """
        steps = self.feature_tests + self.memberships + self.aggregations + self.pairs
        return steps + self.rows // 64

    def judged(self, memberships: int, pairs: int) -> None:
        """Count a subscription whose predicates were evaluated and aggregated."""
        self.memberships += memberships
        self.aggregations += 1
        self.pairs += pairs

    def __iadd__(self, more: "MatchingWork") -> "MatchingWork":
        self.feature_tests += more.feature_tests
        self.memberships += more.memberships
        self.aggregations += more.aggregations
        self.pairs += more.pairs
        self.rows += more.rows
        return self

    def taken(self) -> "MatchingWork":
        """Return a copy of the counts."""
        return self.since(MatchingWork())

    def since(self, before: "MatchingWork") -> "MatchingWork":
        """Return the difference to earlier counts."""
        return MatchingWork(
            self.feature_tests - before.feature_tests,
            self.memberships - before.memberships,
            self.aggregations - before.aggregations,
            self.pairs - before.pairs,
            self.rows - before.rows,
        )


def work_of(matcher: object) -> MatchingWork | None:
    """Return the counters of a matcher, or None if it does not count."""
    work = getattr(matcher, "work", None)
    return work if isinstance(work, MatchingWork) else None
