"""BFCPAB: Boolean patterns broken down into fuzzy Cartesian products (paper 004, §4.3 and figure 4.d).

Supports pattern_breakdown. A pattern is decomposed when it is added: every *and* or *or* of predicates
becomes the list of its pairs, the paper's fuzzy relational pairs (FRP). For a notification the degree of a
pair is the T-norm of its two degrees under *and* and the T-conorm under *or*; an *and* is the fuzzy mean of
its pairs, an *or* the mean of their maxima, which the paper calls maximum mean. Connectives over other
operands use norm and conorm, from the inside out.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import combinations

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.matching.population import AggregatorNotServed, Held, NotificationRow, Population
from plugins.fuzzy.patterns import Joined, Leaf, Not, Pattern, is_predicate, norm_of, pattern_from_bytes
from plugins.language import Match, SubscriptionKey
from watchdog.aggregators import PATTERN_BREAKDOWN
from watchdog.membership import degree
from watchdog.pattern import both

Evaluation = Callable[[list[int]], int]
"""Degrees of the predicates → degree of the pattern."""


class BrokenDownPatternMatcher(Population):
    """Stores every pattern decomposed into pairs."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        super().__init__(table, features, feature_bytes)
        self._evaluations: dict[SubscriptionKey, Evaluation] = {}

    def check_served(self, held: Held) -> None:
        """Refuse other aggregators."""
        if held.aggregator != PATTERN_BREAKDOWN:
            raise AggregatorNotServed(
                f"BFCPAB supports aggregator {PATTERN_BREAKDOWN}, not {held.aggregator}; match it with `fast`"
            )

    def entered(self, held: Held) -> None:
        tree = pattern_from_bytes(held.block, len(held.attributes))
        self._evaluations[held.key] = decomposed(tree, norm_of(held.block))

    def left(self, held: Held) -> None:
        del self._evaluations[held.key]

    def found(self, notification: NotificationRow) -> Iterator[Match]:
        """Yield the candidates with a sufficient degree."""
        self.work.feature_tests += len(self._held)
        for held in self._held.values():
            if self.serves(notification, held):
                values = [notification.row[attribute] for attribute in held.attributes]
                degrees = [degree(x, *triple) for x, triple in zip(values, held.constraints, strict=True)]
                self.work.judged(len(degrees), held.pairs)
                overall = self._evaluations[held.key](degrees)
                if held.is_satisfied(overall):
                    yield Match(held.key, overall)


def decomposed(pattern: Pattern, norm: int = 0) -> Evaluation:
    """Return the evaluation of a pattern over fuzzy Cartesian products."""
    match pattern:
        case Leaf(rank):
            return lambda degrees: degrees[rank]
        case Not(part):
            inner = decomposed(part, norm)
            return lambda degrees: 255 - inner(degrees)
        case Joined("or", parts):
            turned = decomposed(Joined("and", tuple(map(Not, parts))), norm)
            return lambda degrees: 255 - turned(degrees)
        case Joined(_, parts):
            operands = [decomposed(part, norm) for part in parts]
            if all(map(is_predicate, parts)):
                pairs = list(combinations(operands, 2))
                return lambda degrees: _mean([both(a(degrees), b(degrees), norm) for a, b in pairs])
            return lambda degrees: reduce(
                lambda a, b: both(a, b, norm), (operand(degrees) for operand in operands)
            )


def _mean(degrees: list[int]) -> int:
    return (2 * sum(degrees) + len(degrees)) // (2 * len(degrees))
