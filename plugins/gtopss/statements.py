"""A publication in matching form: nodes by number, statements by property, and types of nodes.

The types of a node are those of the taxonomy and the publication's own `rdf:type`; `subClassOf` inside a
publication is an ordinary statement.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import RDF, Graph, Iri, Term, is_ill_formed, written
from knowledge_manager.graphs.values import Value, order, value_of
from plugins.gtopss.pattern import Code, Constraint

if TYPE_CHECKING:
    from plugins.gtopss.vectors import GraphPublication

TYPE: Final = Iri(RDF + "type")

Pairs = list[tuple[int, int]]


class Statements:
    """A decomposed graph. Nodes are numbered in the order of the publication's bytes, as in compiled code; a
    graph without bytes is numbered by the texts of its nodes.
    """

    def __init__(self, graph: Graph, taxonomy: Taxonomy, nodes: Sequence[Term] = ()) -> None:
        self._taxonomy = taxonomy
        self.nodes: Sequence[Term] = nodes or _by_text(graph)
        self.number_of: dict[Term, int] = {term: number for number, term in enumerate(self.nodes)}
        self.size = len(graph)
        self.by_property: dict[Term, Pairs] = {}
        for triple in graph:
            pair = self.number_of[triple.subject], self.number_of[triple.object]
            self.by_property.setdefault(triple.property, []).append(pair)

    @classmethod
    def of(cls, publication: "GraphPublication", taxonomy: Taxonomy) -> "Statements":
        return cls(publication.graph, taxonomy, publication.nodes)

    @cached_property
    def _values(self) -> list[Value | None]:
        return [value_of(node) for node in self.nodes]

    @cached_property
    def _is_ill_formed(self) -> list[bool]:
        return [is_ill_formed(node) for node in self.nodes]

    @cached_property
    def text_ranks(self) -> list[int]:
        """Return the rank of each node by N-Triples text."""
        ranks = [0] * len(self.nodes)
        for rank, node in enumerate(sorted(range(len(ranks)), key=lambda node: written(self.nodes[node]))):
            ranks[node] = rank
        return ranks

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
        """Return a node's types, and itself if it can be a class."""
        term = self.nodes[node]
        return self._types[node] | {term.text} if isinstance(term, Iri) else self._types[node]

    def holds(self, constraint: Constraint, node: int) -> bool:
        """Return whether a node satisfies a constraint on it alone."""
        term, code, operand = self.nodes[node], constraint.code, constraint.operand
        assert not isinstance(operand, int), "differs concerns two nodes"
        if code is Code.EQ:
            return term == operand or order(self._values[node], value_of(operand)) == 0
        if code is Code.NE:
            is_other = term != operand and order(self._values[node], value_of(operand)) != 0
            return is_other and not self._is_ill_formed[node]
        if code in _COMPARISONS:
            found = order(self._values[node], value_of(operand))
            return found is not None and _COMPARISONS[code](found)
        assert isinstance(operand, Iri), "a class is an IRI"
        if code is Code.IS_A:
            return any(self._taxonomy.is_below(one, operand.text) for one in self._kin(node))
        if code is Code.DIRECT:
            return operand.text in self._types[node]
        return not self._kin(node).isdisjoint(self._taxonomy.ancestors(operand.text))

    def differ(self, one: int, other: int) -> bool:
        """Return whether two nodes differ in value; an ill-formed one differs from nothing."""
        if one == other or self._is_ill_formed[one] or self._is_ill_formed[other]:
            return False
        return order(self._values[one], self._values[other]) != 0

    def is_double(self, node: int) -> bool:
        """Return whether a node is a double, which may equal several different numbers."""
        value = self._values[node]
        return value is not None and isinstance(value.worth, float)

    def well_formed(self, nodes: Iterable[int]) -> set[int]:
        """Return the nodes that fit their datatype."""
        return {node for node in nodes if not self._is_ill_formed[node]}

    def passing(self, constraint: Constraint, nodes: Iterable[int]) -> set[int]:
        return {node for node in nodes if self.holds(constraint, node)}


def _by_text(graph: Graph) -> list[Term]:
    ends = {term for triple in graph for term in (triple.subject, triple.object)}
    return sorted(ends, key=written)


_COMPARISONS: Final = {
    Code.LT: lambda found: found < 0,
    Code.LE: lambda found: found <= 0,
    Code.GT: lambda found: found > 0,
    Code.GE: lambda found: found >= 0,
}
