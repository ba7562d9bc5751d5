"""`original`: the chapter's first algorithm (§5.3.1). All subscriptions in one graph, matched edge by edge.

The graph is a hash of pairs of nodes, each a hash of labels, each a list of subscriptions and a table of
bindings. Variables are stars, numbered within their subscription in order of first occurrence, so that those
of different subscriptions coincide. Every statement is looked up under each pair of itself and the stars;
subscriptions with all edges are joined, and constraints are tested last.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from knowledge_manager.graphs.terms import Iri
from plugins.gtopss.match import Judgement
from plugins.gtopss.matching.joins import judged_by_join
from plugins.gtopss.pattern import Edge, End, Pattern
from plugins.gtopss.statements import Pairs, Statements
from plugins.language import SubscriptionKey

Ends = tuple[End, End]
"""A pair of nodes; stars are numbers."""


@dataclass(slots=True)
class _SharedEdge:
    """An edge of the common graph, and its subscriptions."""

    holders: set[SubscriptionKey] = field(default_factory=set)


class OriginalSearch:
    """Holds the matrix of all patterns."""

    def __init__(self) -> None:
        self._patterns: dict[SubscriptionKey, Pattern] = {}
        self._matrix: dict[Ends, dict[Iri, _SharedEdge]] = {}
        self._stars: dict[int, int] = {}
        """Number of patterns by number of variables."""

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        self._patterns[key] = pattern
        self._stars[pattern.variables] = self._stars.get(pattern.variables, 0) + 1
        for edge in pattern.edges:
            labels = self._matrix.setdefault((edge.subject, edge.object), {})
            labels.setdefault(edge.property, _SharedEdge()).holders.add(key)

    def leave(self, key: SubscriptionKey) -> None:
        pattern = self._patterns.pop(key)
        self._stars[pattern.variables] -= 1
        if not self._stars[pattern.variables]:
            del self._stars[pattern.variables]
        for edge in pattern.edges:
            ends = edge.subject, edge.object
            shared = self._matrix[ends][edge.property]
            shared.holders.discard(key)
            if not shared.holders:
                del self._matrix[ends][edge.property]
            if not self._matrix[ends]:
                del self._matrix[ends]

    def judgements(self, statements: Statements) -> Iterator[tuple[SubscriptionKey, Judgement]]:
        """Yield the judgements of patterns for which all edges are found."""
        bindings: dict[Edge, Pairs] = {}
        counts: dict[SubscriptionKey, int] = {}
        stars = range(max(self._stars, default=0))
        for property_, pairs in statements.by_property.items():
            assert isinstance(property_, Iri), "properties are IRIs"
            for pair in pairs:
                one, other = statements.nodes[pair[0]], statements.nodes[pair[1]]
                for first in (one, *stars):
                    for second in (other, *stars):
                        self._note(Edge(first, property_, second), pair, bindings, counts)
        for key, count in counts.items():
            pattern = self._patterns[key]
            if count == len(pattern.edges):
                yield key, judged_by_join(pattern, statements, [bindings[edge] for edge in pattern.edges])

    def _note(
        self,
        edge: Edge,
        pair: tuple[int, int],
        bindings: dict[Edge, Pairs],
        counts: dict[SubscriptionKey, int],
    ) -> None:
        """Add a pair to the table of a subscribed edge; its first pair counts."""
        if isinstance(edge.subject, int) and edge.subject == edge.object and pair[0] != pair[1]:
            return
        shared = self._matrix.get((edge.subject, edge.object), {}).get(edge.property)
        if shared is None:
            return
        if edge not in bindings:
            bindings[edge] = []
            for key in shared.holders:
                counts[key] = counts.get(key, 0) + 1
        bindings[edge].append(pair)
