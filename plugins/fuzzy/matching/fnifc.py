"""FNIFC: FNIF over a population reduced by covering (paper 004, §4.4 and figure 5.c).

Only the roots of the covering forest are evaluated first. A root that does not match excludes its whole tree,
because it matches whatever its tree matches; below one that matches, each child is treated as a root. A
covered subscription is reported like any other, with its own degree.
"""

from collections.abc import Iterator

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import AGGREGATOR_AT
from plugins.fuzzy.matching.population import Held, NotificationRow, Population
from plugins.fuzzy.relations.covering import CoveringForest
from plugins.language import Match, SubscriptionKey


class CoveringMatcher(Population):
    """Matches roots, and their trees only below matching ones."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        super().__init__(table, features, feature_bytes)
        self.forest = CoveringForest(features, self._codec.feature_bytes)
        self._roots: list[SubscriptionKey] | None = None

    def entered(self, held: Held) -> None:
        self.forest.insert(held.key, held.body)
        self._roots = None

    def left(self, held: Held) -> None:
        self.forest.remove(held.key)
        self._roots = None

    def found(self, notification: NotificationRow) -> Iterator[Match]:
        if self._roots is None:
            self._roots = self.forest.roots()
        pending = [(key, b"", 0) for key in self._roots]
        while pending:
            key, meaning, degree = pending.pop()
            held = self._held[key]
            if held.body[AGGREGATOR_AT:] == meaning:
                matched = [Match(key, degree)]
            else:
                self.work.feature_tests += 1
                matched = list(self.judged(notification, held)) if self.serves(notification, held) else []
            for match in matched:
                yield match
                below = self.forest.children(key)
                pending.extend((child, held.body[AGGREGATOR_AT:], match.degree_u8) for child in below)
