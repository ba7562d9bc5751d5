"""FIP: flat, with an index of predicates (paper 004, §4.3 and figure 4.b).

A predicate is (attribute, v, V, g). Each distinct one is evaluated once per notification, in the first stage.
In the second stage the association lists of satisfied predicates lead to the subscriptions, whose degrees are
combined from the results of the first stage. A subscription without a satisfied predicate can match only if
its combination of zeros is positive (a pattern with *not*, a table that does not begin at 0); those few are
known when they are added, and are always evaluated.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import AGGREGATOR_AT
from plugins.fuzzy.matching.population import Held, NotificationRow, Population
from plugins.language import Match, SubscriptionKey
from watchdog.membership import degree
from watchdog.score import combine

Predicate = tuple[int, int, int, int]
"""(attribute, v, V, g)."""


@dataclass(slots=True)
class _Indexed:
    """A distinct predicate, and the subscriptions that contain it, in order of arrival."""

    subscriptions: dict[SubscriptionKey, None] = field(default_factory=dict)


class PredicateIndexMatcher(Population):
    """Evaluates each distinct predicate once and follows the associations of satisfied ones."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        super().__init__(table, features, feature_bytes)
        self._predicates: dict[int, dict[Predicate, _Indexed]] = {}
        self._of: dict[SubscriptionKey, tuple[Predicate, ...]] = {}
        self._from_nothing: dict[SubscriptionKey, None] = {}

    def entered(self, held: Held) -> None:
        """Associate it with its predicates; each event class has its own index."""
        index = self._predicates.setdefault(held.event, {})
        self._of[held.key] = tuple(
            (attribute, *triple) for attribute, triple in zip(held.attributes, held.constraints, strict=True)
        )
        for predicate in self._of[held.key]:
            index.setdefault(predicate, _Indexed()).subscriptions[held.key] = None
        n = len(held.attributes)
        if combine(held.body, AGGREGATOR_AT, bytearray(2 * n), n) > 0:
            self._from_nothing[held.key] = None

    def left(self, held: Held) -> None:
        """Remove it from the association lists; an unused predicate is removed."""
        index = self._predicates[held.event]
        for predicate in self._of.pop(held.key):
            indexed = index[predicate]
            del indexed.subscriptions[held.key]
            if not indexed.subscriptions:
                del index[predicate]
        self._from_nothing.pop(held.key, None)

    def found(self, notification: NotificationRow) -> Iterator[Match]:
        """Evaluate the predicates, collect the associated subscriptions, combine their degrees."""
        degrees: dict[Predicate, int] = {}
        evaluated = 0
        touched = dict(self._from_nothing)
        known = notification.feature | self._age_bit
        for predicate, indexed in self._predicates.get(notification.event, {}).items():
            attribute, v, V, g = predicate
            if known >> attribute & 1:
                evaluated += 1
                found = degree(notification.row[attribute], v, V, g)
                if found:
                    degrees[predicate] = found
                    touched |= indexed.subscriptions
        self.work.memberships += evaluated
        self.work.feature_tests += len(touched)
        for key in touched:
            held = self._held[key]
            if self.serves(notification, held):
                n = len(held.attributes)
                row = bytearray(2 * n)
                for rank, predicate in enumerate(self._of[key]):
                    row[rank] = degrees.get(predicate, 0)
                self.work.aggregations += 1
                self.work.pairs += held.pairs
                overall = combine(held.body, AGGREGATOR_AT, row, n)
                if held.is_satisfied(overall):
                    yield Match(key, overall)
