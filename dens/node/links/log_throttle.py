"""Limits how often repeated log messages are printed, so that a flood of datagrams cannot fill a disk.

The first occurrence is printed at once. Further ones are counted and reported when the interval is over.
While they continue, each interval is twice as long as the one before. Beyond a number of different messages
only their total is reported.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

FIRST_INTERVAL_MS: Final = 10_000
LONGEST_INTERVAL_MS: Final = 3_600_000

K = TypeVar("K", bound=Hashable)


class Repetition(NamedTuple, Generic[K]):
    """How often something was repeated within an interval."""

    what: K | None
    """None counts everything beyond the limit of different messages."""
    times: int
    within_ms: int


@dataclass(slots=True)
class _Interval:
    began_ms: int
    length_ms: int
    count: int = 0


class LogThrottle(Generic[K]):
    """Counts occurrences, and decides which of them are printed one by one."""

    def __init__(self, most: int) -> None:
        """`most` different messages are counted separately, all others together."""
        self._most = most
        self._intervals: dict[K | None, _Interval] = {}

    def is_first(self, what: K, now_ms: int) -> bool:
        """Count an occurrence; return whether to print it now, because there was none recently."""
        interval = self._intervals.get(what)
        if interval is not None:
            interval.count += 1
            return False
        if len(self._intervals) - (None in self._intervals) < self._most:
            self._intervals[what] = _Interval(now_ms, FIRST_INTERVAL_MS)
            return True
        others = self._intervals.setdefault(None, _Interval(now_ms, FIRST_INTERVAL_MS))
        others.count += 1
        return False

    def due(self, now_ms: int, *, at_the_end: bool = False) -> list[Repetition[K]]:
        """Return the repetitions of intervals that are over, or of all intervals."""
        repetitions: list[Repetition[K]] = []
        for what, interval in list(self._intervals.items()):
            within_ms = now_ms - interval.began_ms
            if 0 <= within_ms < interval.length_ms and not at_the_end:
                continue
            if interval.count:
                repetitions.append(Repetition(what, interval.count, max(within_ms, 0)))
                longer_ms = min(2 * interval.length_ms, LONGEST_INTERVAL_MS)
                self._intervals[what] = _Interval(now_ms, longer_ms)
            else:
                del self._intervals[what]
        return repetitions
