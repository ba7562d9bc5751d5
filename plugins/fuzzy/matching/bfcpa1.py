"""BFCPA1: functions of degrees broken down into Takagi–Sugeno rules of first order (paper 004, §4.3).

Supports takagi_sugeno_1. Every pair of degrees fires the rules of a table with linear consequents; the fuzzy
mean of the rules is the pair's value, and the mean over all pairs, or their sum, is the subscription's
degree. Multiplicative means use their generator instead, in whose domain that mean over pairs is exact.
"""

from collections.abc import Iterator
from typing import ClassVar

from plugins.board_vectors import AGGREGATOR_AT
from plugins.fuzzy.matching.population import AggregatorNotServed, Held, NotificationRow, Population
from plugins.language import Match
from watchdog.aggregators import TAKAGI_SUGENO_1
from watchdog.breakdown import evaluate_function
from watchdog.membership import degree


class FirstOrderMatcher(Population):
    """Evaluates the rules of every candidate."""

    algorithm: ClassVar = "BFCPA1"
    served: ClassVar = TAKAGI_SUGENO_1
    order: ClassVar = 1

    def check_served(self, held: Held) -> None:
        """Refuse other aggregators."""
        if held.aggregator != self.served:
            problem = f"{self.algorithm} supports aggregator {self.served}, not {held.aggregator}"
            raise AggregatorNotServed(f"{problem}; match it with `fast`")

    def found(self, notification: NotificationRow) -> Iterator[Match]:
        """Yield the candidates with a sufficient degree."""
        self.work.feature_tests += len(self._held)
        for held in self._held.values():
            if self.serves(notification, held):
                n = len(held.attributes)
                values = [notification.row[attribute] for attribute in held.attributes]
                pairs = zip(values, held.constraints, strict=True)
                degrees = bytearray(degree(value, *triple) for value, triple in pairs)
                self.work.judged(n, held.pairs)
                overall = evaluate_function(held.body, AGGREGATOR_AT + 1, degrees, n, self.order)
                if held.is_satisfied(overall):
                    yield Match(held.key, overall)
