"""BFCPAB: Boolean patterns broken down into fuzzy Cartesian products (paper 004, §4.3 and figure 4.d).

Serves pattern_breakdown. A pattern is decomposed when it is added: every *and* or *or* of predicates becomes
the list of its pairs. For a notification the degree of a pair is the minimum of its two degrees under *and*
and the maximum under *or*; an *and* is the rounded mean of its pairs, an *or* the maximum of its pairs.
Connectives over anything but predicates join with minimum and maximum, from the inside out.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.matching.population import AggregatorNotServed, Held, Population, Told
from plugins.fuzzy.patterns import Joined, Leaf, Not, Pattern, pattern_from_bytes
from plugins.language import Match, SubscriptionKey
from watchdog.aggregators import PATTERN_BREAKDOWN
from watchdog.membership import degree
from watchdog.score import satisfies
from watchdog.vector import HEADER_BYTES, constraints_offset

Evaluation = Callable[[list[int]], int]
"""Degrees of the predicates → degree of the pattern."""


class BrokenDownPatternMatcher(Population):
    """Keeps every pattern decomposed into pairs."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        super().__init__(table, features, feature_bytes)
        self._evaluations: dict[SubscriptionKey, Evaluation] = {}

    def check_served(self, held: Held) -> None:
        """Refuse what is not a pattern to be broken down."""
        if held.aggregator != PATTERN_BREAKDOWN:
            raise AggregatorNotServed(
                f"BFCPAB serves aggregator {PATTERN_BREAKDOWN}, not {held.aggregator}; match it with `fast`"
            )

    def entered(self, held: Held) -> None:
        """Decompose its pattern."""
        block = held.vector[HEADER_BYTES + 1 : constraints_offset(held.vector)]
        self._evaluations[held.key] = decomposed(pattern_from_bytes(block, len(held.attributes)))

    def left(self, held: Held) -> None:
        """Forget its pairs."""
        del self._evaluations[held.key]

    def found(self, told: Told) -> Iterator[Match]:
        """Yield the candidates whose pairs suffice."""
        for held in self._held.values():
            if self.serves(told, held):
                values = [told.row[attribute] for attribute in held.attributes]
                degrees = [degree(x, *triple) for x, triple in zip(values, held.constraints, strict=True)]
                overall = self._evaluations[held.key](degrees)
                if satisfies(held.vector[5], overall):
                    yield Match(held.key, overall)


def decomposed(pattern: Pattern) -> Evaluation:
    """Return how this pattern is evaluated over fuzzy Cartesian products."""
    match pattern:
        case Leaf(rank):
            return lambda degrees: degrees[rank]
        case Not(part):
            inner = decomposed(part)
            return lambda degrees: 255 - inner(degrees)
        case Joined(connective, parts):
            operands = [decomposed(part) for part in parts]
            if connective == "and" and all(map(_is_predicate, parts)):
                pairs = list(combinations(operands, 2))
                return lambda degrees: _mean([min(a(degrees), b(degrees)) for a, b in pairs])
            join = min if connective == "and" else max
            return lambda degrees: join(operand(degrees) for operand in operands)


def _is_predicate(pattern: Pattern) -> bool:
    return isinstance(pattern, Leaf) or (isinstance(pattern, Not) and isinstance(pattern.part, Leaf))


def _mean(degrees: list[int]) -> int:
    return (2 * sum(degrees) + len(degrees)) // (2 * len(degrees))
