"""A publication as patterns look at it: nodes by number, statements by property, and what each node is.

A node's types are those that the taxonomy states of it and the publication's own `rdf:type`; `subClassOf`
inside a publication is a statement like any other.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import RDF, Graph, Iri, Term, is_ill_formed, written
from knowledge_manager.graphs.values import differs, is_equal, order, value_of
from plugins.gtopss.pattern import Code, Constraint

TYPE: Final = Iri(RDF + "type")

Pairs = list[tuple[int, int]]


class Statements:
    """A graph, taken apart. Nodes are numbered in the order of their texts, which orders bindings too."""

    def __init__(self, graph: Graph, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        ends = {term for triple in graph for term in (triple.subject, triple.object)}
        self.nodes: list[Term] = sorted(ends, key=written)
        self.number_of: dict[Term, int] = {term: number for number, term in enumerate(self.nodes)}
        self.size = len(graph)
        self.by_property: dict[Term, Pairs] = {}
        for triple in graph:
            pair = self.number_of[triple.subject], self.number_of[triple.object]
            self.by_property.setdefault(triple.property, []).append(pair)

    @cached_property
    def _types(self) -> list[frozenset[str]]:
        """Return the stated types of each node."""
        stated: list[set[str]] = [
            set(self._taxonomy.types_of(node.text)) if isinstance(node, Iri) else set() for node in self.nodes
        ]
        for node, type_ in self.by_property.get(TYPE, ()):
            of = self.nodes[type_]
            if isinstance(of, Iri):
                stated[node].add(of.text)
        return [frozenset(some) for some in stated]

    def _kin(self, node: int) -> frozenset[str]:
        """Return a node's types, and itself where it can be a class."""
        term = self.nodes[node]
        return self._types[node] | {term.text} if isinstance(term, Iri) else self._types[node]

    def holds(self, constraint: Constraint, node: int) -> bool:
        """Say whether a node satisfies a constraint that concerns no other node."""
        term, code, operand = self.nodes[node], constraint.code, constraint.operand
        assert not isinstance(operand, int), "differs concerns two nodes"
        if code is Code.EQ:
            return is_equal(term, operand)
        if code is Code.NE:
            return not is_ill_formed(term) and not is_equal(term, operand)
        if code in _COMPARISONS:
            found = order(value_of(term), value_of(operand))
            return found is not None and _COMPARISONS[code](found)
        assert isinstance(operand, Iri), "a class is an IRI"
        if code is Code.IS_A:
            return any(self._taxonomy.is_below(one, operand.text) for one in self._kin(node))
        if code is Code.DIRECT:
            return operand.text in self._types[node]
        return not self._kin(node).isdisjoint(self._taxonomy.ancestors(operand.text))

    def differ(self, one: int, other: int) -> bool:
        """Say whether two nodes differ in value."""
        return one != other and differs(self.nodes[one], self.nodes[other])

    def passing(self, constraints: Iterable[Constraint], nodes: Iterable[int]) -> set[int]:
        """Return the nodes that satisfy all of these."""
        asked = list(constraints)
        return {node for node in nodes if all(self.holds(one, node) for one in asked)}


_COMPARISONS: Final = {
    Code.LT: lambda found: found < 0,
    Code.LE: lambda found: found <= 0,
    Code.GT: lambda found: found > 0,
    Code.GE: lambda found: found >= 0,
}
