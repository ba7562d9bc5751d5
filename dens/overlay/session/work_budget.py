"""How much work languages do for each origin: token buckets in units of work, refilled by the time given.

A unit is a step that a matcher or composer counts itself (`work`), the same in pure, compiled and kernel
code; nothing here looks at a clock. So a run and its repetition spend alike. What a call costs is known when
it is done: a call is charged afterwards, and the next call of an origin whose bucket is empty waits or is
refused. What the bucket lacks is at most as much as it holds when it is full.

It is the generic cell rate algorithm (ITU-T I.371), as in dens/overlay/session/rate_limit.py: for each
origin one number, the time at which its bucket is full again, in thousandths of a unit.
"""

from typing import Final


class BudgetSpent(Exception):
    """Work was left out because the budget of its origin is spent; the outcome is undecided."""


def units_of(worker: object) -> int:
    """Return the units of work that a matcher or composer has counted since it was made; 0 where it counts
    none.
    """
    work = getattr(worker, "work", None)
    if isinstance(work, int):
        return work
    units = getattr(work, "units", 0)
    return units if isinstance(units, int) else 0


def limit_work(worker: object, units: int) -> None:
    """Let one call of a matcher or composer do at most so many units, where it has such a limit."""
    if hasattr(worker, "work_limit"):
        setattr(worker, "work_limit", units)  # noqa: B010 no attribute that all workers have


class WorkBudget:
    """The buckets of all origins. One that is full again is forgotten."""

    __slots__ = ("_burst", "_full", "_per_s", "_tidy_at", "call_limit", "exceeded", "total")

    def __init__(self, per_s: int, burst: int, exceeded: tuple[type[Exception], ...] = ()) -> None:
        """`per_s` units come back every second, and a full bucket has `burst`. `exceeded` are the errors by
        which a language says that a call reached its limit.
        """
        self._per_s = per_s
        self._burst = burst * 1000
        self.call_limit: Final = max(burst // 4, 1)
        """The most units of one call."""
        self._full: dict[int, int] = {}
        self._tidy_at = 64
        self.exceeded: Final[tuple[type[Exception], ...]] = (BudgetSpent, *exceeded)
        self.total = 0
        """Units charged so far, over all origins."""

    def __len__(self) -> int:
        return len(self._full)

    def charge(self, origin: int, units: int, now_ms: int) -> None:
        """Take units from the bucket of an origin."""
        self.total += units
        at = now_ms * self._per_s
        full = min(max(self._full.get(origin, at), at) + units * 1000, at + 2 * self._burst)
        self._full[origin] = full
        if len(self._full) > self._tidy_at:
            self._full = {one: until for one, until in self._full.items() if until > at}
            self._tidy_at = 64 + 2 * len(self._full)

    def _lacking(self, origin: int, now_ms: int) -> int:
        """Return how far a bucket is from full, in thousandths; a clock that was set back changes little."""
        return min(self._full.get(origin, 0) - now_ms * self._per_s, 2 * self._burst)

    def is_spent(self, origin: int, now_ms: int) -> bool:
        """Return whether the bucket of an origin is empty."""
        return origin in self._full and self._lacking(origin, now_ms) >= self._burst

    def is_overdrawn(self, origin: int, now_ms: int) -> bool:
        """Return whether the bucket lacks as much as it can: then even small work is refused."""
        return origin in self._full and self._lacking(origin, now_ms) >= 2 * self._burst

    def ready_ms(self, origin: int, now_ms: int) -> int:
        """Return when the bucket of an origin is not empty any more; now, where it is not."""
        if not self.is_spent(origin, now_ms):
            return now_ms
        return now_ms + (self._lacking(origin, now_ms) - self._burst) // self._per_s + 1
