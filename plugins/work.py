"""Deterministic work accounting: units counted by the code that does the work, never by a clock."""


class WorkExceeded(Exception):
    """Raised by a language call that reached its work limit. The outcome of the call is undecided."""


class WorkMeter:
    """Counts units of work; raises `WorkExceeded` when a call passes its limit."""

    __slots__ = ("limit", "spent")

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.spent = 0

    def spend(self, units: int) -> None:
        """Count units; past the limit raise `WorkExceeded`."""
        self.spent += units
        if self.limit is not None and self.spent > self.limit:
            raise WorkExceeded(f"{self.spent} units of work, {self.limit} allowed")
