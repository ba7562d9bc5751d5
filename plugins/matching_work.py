"""What matching does, counted: the same on every machine, whatever it takes there.

A matcher that counts has an attribute `work`, which grows with every notification that it is asked about. Who
wants to know what one of them took looks before and after (`taken`, `since`). What the counts cost in time on
a device is that device's affair (`emulation.devices.matching_costs`).
"""

from dataclasses import dataclass


@dataclass(slots=True)
class MatchingWork:
    """Counted steps of one matcher, since it was made."""

    feature_tests: int = 0
    """Times that the feature of a subscription, or of a group that shares one, was held against a
    notification's."""
    memberships: int = 0
    """Times that a value was held against one predicate."""
    aggregations: int = 0
    """Times that the degrees of a subscription were made one."""
    pairs: int = 0
    """Pairs of degrees that break-down related for that (the paper's fuzzy relational products)."""
    rows: int = 0
    """Subscriptions judged in columns, many at once: their memberships and aggregations are not counted
    singly."""

    @property
    def units(self) -> int:
        """Return the counts as units of work (dens/overlay/session/work_budget.py); rows are judged in
        blocks of 64."""
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
        """Return the counts as they are now."""
        return self.since(MatchingWork())

    def since(self, before: "MatchingWork") -> "MatchingWork":
        """Return what was done since the counts were as in `before`."""
        return MatchingWork(
            self.feature_tests - before.feature_tests,
            self.memberships - before.memberships,
            self.aggregations - before.aggregations,
            self.pairs - before.pairs,
            self.rows - before.rows,
        )


def work_of(matcher: object) -> MatchingWork | None:
    """Return what a matcher counts, or None where it counts nothing."""
    work = getattr(matcher, "work", None)
    return work if isinstance(work, MatchingWork) else None
