"""Work budget per origin: token buckets in units of work, for matchers and composers of languages.

A unit is a step that a matcher or composer counts itself (`work`), the same in pure, compiled and kernel
code. Buckets are refilled by the time of the caller, not by a clock, so that a run and its repetition are
identical. The cost of a call is known afterwards: the call is charged then, and the next call of an origin
with an empty bucket waits or is refused. A bucket is overdrawn by at most its capacity.

Implemented as the generic cell rate algorithm (ITU-T I.371), as in dens/overlay/session/rate_limit.py: one
number per origin, the time at which its bucket is full again, in thousandths of a unit.
"""

from typing import Final


class BudgetSpent(Exception):
    """Work was skipped because the budget of its origin is spent; its outcome is undecided."""


def units_of(worker: object) -> int:
    """Return the units of work that a matcher or composer has counted; 0 if it does not count."""
    work = getattr(worker, "work", None)
    if isinstance(work, int):
        return work
    units = getattr(work, "units", 0)
    return units if isinstance(units, int) else 0


def limit_work(worker: object, units: int) -> None:
    """Set the most units per call of a matcher or composer, if it supports a limit."""
    if hasattr(worker, "work_limit"):
        setattr(worker, "work_limit", units)  # noqa: B010 not every worker has this attribute


class WorkBudget:
    """The buckets of all origins. Full buckets are forgotten."""

    __slots__ = ("_burst", "_full", "_per_s", "_tidy_at", "call_limit", "exceeded", "total")

    def __init__(self, per_s: int, burst: int, exceeded: tuple[type[Exception], ...] = ()) -> None:
        """`per_s` units are refilled per second; a full bucket has `burst`. `exceeded` are the exceptions of
        languages for a call that reached its limit.
        """
        self._per_s = per_s
        self._burst = burst * 1000
        self.call_limit: Final = max(burst // 4, 1)
        """Maximal units per call."""
        self._full: dict[int, int] = {}
        self._tidy_at = 64
        self.exceeded: Final[tuple[type[Exception], ...]] = (BudgetSpent, *exceeded)
        self.total = 0
        """Units charged so far, for all origins."""

    def __len__(self) -> int:
        return len(self._full)

    def charge(self, origin: int, units: int, now_ms: int) -> None:
        self.total += units
        at = now_ms * self._per_s
        full = min(max(self._full.get(origin, at), at) + units * 1000, at + 2 * self._burst)
        self._full[origin] = full
        if len(self._full) > self._tidy_at:
            self._full = {other: until for other, until in self._full.items() if until > at}
            self._tidy_at = 64 + 2 * len(self._full)

    def _lacking(self, origin: int, now_ms: int) -> int:
        """Return the missing units of a bucket in thousandths, bounded in case the clock was set back."""
        return min(self._full.get(origin, 0) - now_ms * self._per_s, 2 * self._burst)

    def is_spent(self, origin: int, now_ms: int) -> bool:
        """Return whether the bucket of an origin is empty."""
        return origin in self._full and self._lacking(origin, now_ms) >= self._burst

    def is_overdrawn(self, origin: int, now_ms: int) -> bool:
        """Return whether the bucket is overdrawn as far as possible: then even small work is refused."""
        return origin in self._full and self._lacking(origin, now_ms) >= 2 * self._burst

    def ready_ms(self, origin: int, now_ms: int) -> int:
        """Return when the bucket of an origin is no longer empty; `now_ms` if it is not empty."""
        if not self.is_spent(origin, now_ms):
            return now_ms
        return now_ms + (self._lacking(origin, now_ms) - self._burst) // self._per_s + 1
