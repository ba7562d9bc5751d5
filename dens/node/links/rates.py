"""How what happens too often is told: once when it begins, then how often it happened, ever less often.

Whoever is flooded must not fill its own disk with the news of it. Of each thing the first is told at once;
what follows is counted and told when the interval is over, and while it goes on each interval is twice as
long as the one before. Of more different things than a bound only the number is told.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

FIRST_INTERVAL_MS: Final = 10_000
LONGEST_INTERVAL_MS: Final = 3_600_000

K = TypeVar("K", bound=Hashable)


class Rate(NamedTuple, Generic[K]):
    """What happened again, how often and within which time."""

    what: K | None
    """None stands for everything beyond the bound."""
    times: int
    within_ms: int


@dataclass(slots=True)
class _Interval:
    began_ms: int
    length_ms: int
    count: int = 0


class Rates(Generic[K]):
    """Counts things that happen, and says which of them are to be told one by one."""

    def __init__(self, most: int) -> None:
        """Of `most` different things each is told; of all others together only how many they were."""
        self._most = most
        self._intervals: dict[K | None, _Interval] = {}

    def is_first(self, what: K, now_ms: int) -> bool:
        """Note that this happened; say whether it is to be told now, because it has not happened of late."""
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

    def due(self, now_ms: int, *, at_the_end: bool = False) -> list[Rate[K]]:
        """Return what went on happening within intervals that are over now, or within all of them."""
        found: list[Rate[K]] = []
        for what, interval in list(self._intervals.items()):
            within_ms = now_ms - interval.began_ms
            if 0 <= within_ms < interval.length_ms and not at_the_end:
                continue
            if interval.count:
                found.append(Rate(what, interval.count, max(within_ms, 0)))
                longer_ms = min(2 * interval.length_ms, LONGEST_INTERVAL_MS)
                self._intervals[what] = _Interval(now_ms, longer_ms)
            else:
                del self._intervals[what]
        return found
