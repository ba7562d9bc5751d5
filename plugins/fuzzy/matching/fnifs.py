"""FNIFS: FNIF over subscriptions sorted by feature, which allows an early stop (paper 004, §4.4 and figure
5.b).

A feature read as a number is never smaller than the feature of any of its subsets. With features in ascending
order everything after the notification's own feature is therefore skipped; under `exact` so is everything
before it. (The paper leaves the loop one step too early, at the equal feature, and excludes both ends of the
list.)
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import islice

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.matching.population import Held, NotificationRow, Population
from plugins.language import Match


def _place(held: Held) -> tuple[int, ...]:
    return held.event, held.needs, *held.key


class SortedFeatureMatcher(Population):
    """Keeps subscriptions sorted by feature."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        super().__init__(table, features, feature_bytes)
        self._sorted: list[Held] = []

    def entered(self, held: Held) -> None:
        insort(self._sorted, held, key=_place)

    def left(self, held: Held) -> None:
        del self._sorted[bisect_left(self._sorted, _place(held), key=_place)]

    def found(self, notification: NotificationRow) -> Iterator[Match]:
        """Start at the first feature that can fit, stop after the last."""
        lowest = notification.feature if self.exact else 0
        start: tuple[int, ...] = (notification.event, lowest)
        behind: tuple[int, ...] = (notification.event, notification.feature + 1)
        first = bisect_left(self._sorted, start, key=_place)
        end = bisect_left(self._sorted, behind, first, key=_place)
        for held in islice(self._sorted, first, end):
            self.work.feature_tests += 1
            if self.serves(notification, held):
                yield from self.judged(notification, held)
