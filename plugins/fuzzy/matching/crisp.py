"""`crisp`: the attribute–value baseline (paper 004, §5 calls its time negligible).

Every constraint is evaluated with slope code 127: a value inside [v, V] has degree 255, any other 0; a
complemented constraint the reverse. The combination is unchanged.
"""

from collections.abc import Iterator

from plugins.board_vectors import AGGREGATOR_AT
from plugins.fuzzy.matching.population import NotificationRow, Population
from plugins.language import Match
from watchdog.score import combine

FULFILLED, FAILED = 255, 0


class CrispMatcher(Population):
    """Compares values with intervals."""

    def found(self, notification: NotificationRow) -> Iterator[Match]:
        """Yield the candidates with a sufficient degree."""
        work = self.work
        work.feature_tests += len(self._held)
        for held in self._held.values():
            if self.serves(notification, held):
                n = len(held.attributes)
                degrees = bytearray(2 * n)
                for rank, (v, V, g) in enumerate(held.constraints):
                    inside = v <= notification.row[held.attributes[rank]] <= V
                    degrees[rank] = FULFILLED if inside != (g >= 128) else FAILED
                work.memberships += n
                work.aggregations += 1
                work.pairs += held.pairs
                overall = combine(held.body, AGGREGATOR_AT, degrees, n)
                if held.is_satisfied(overall):
                    yield Match(held.key, overall)
