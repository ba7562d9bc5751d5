"""FNIFC: FNIF over a population reduced by covering (paper 004, §4.4 and figure 5.c).

Only the roots of the covering forest are looked at first. A root that does not match spares its whole tree,
because whatever its tree matches it matches too; below one that matches, each child is a root in its turn.
A covered subscription is reported like any other, with its own degree.
"""

from collections.abc import Iterator

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.matching.population import Held, Population, Told
from plugins.fuzzy.relations.covering import CoveringForest
from plugins.language import Match, SubscriptionKey


class CoveringMatcher(Population):
    """Matches roots, and below them only where there is something to find."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        super().__init__(table, features, feature_bytes)
        self.forest = CoveringForest(features, self._codec.feature_bytes)
        self._roots: list[SubscriptionKey] | None = None

    def entered(self, held: Held) -> None:
        """Find it its place in the forest."""
        self.forest.insert(held.key, held.vector)
        self._roots = None

    def left(self, held: Held) -> None:
        """Let it go from the forest."""
        self.forest.remove(held.key)
        self._roots = None

    def found(self, told: Told) -> Iterator[Match]:
        """Go down from the roots as far as they match."""
        if self._roots is None:
            self._roots = self.forest.roots()
        pending = [(key, b"", 0) for key in self._roots]
        while pending:
            key, body, degree = pending.pop()
            held = self._held[key]
            if held.vector[5:] == body:
                matched = [Match(key, degree)]
            else:
                self.work.feature_tests += 1
                matched = list(self.judged(told, held)) if self.serves(told, held) else []
            for match in matched:
                yield match
                below = self.forest.children(key)
                pending.extend((child, held.vector[5:], match.degree_u8) for child in below)
