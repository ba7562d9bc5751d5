"""Judges that share no code with us: pyoxigraph on the query of a pattern, and every assignment tried."""

from itertools import product

import pyoxigraph as ox

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Blank, Graph, Iri, Term, written
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.sparql_text import TAXONOMY, sparql_of
from plugins.gtopss.statements import Statements

SUBCLASS = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf")
TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_GRAPH = ox.NamedNode(TAXONOMY)


def ox_term(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    if isinstance(term, Iri):
        return ox.NamedNode(term.text)
    if isinstance(term, Blank):
        return ox.BlankNode(f"b{term.number}")
    if term.language:
        return ox.Literal(term.text, language=term.language)
    return ox.Literal(term.text, datatype=ox.NamedNode(term.datatype))


class OxigraphJudge:
    """A store with one publication and the taxonomy."""

    def __init__(self, graph: Graph, taxonomy: Taxonomy) -> None:
        self.store = ox.Store()
        for triple in graph:
            self.store.add(ox.Quad(*(ox_term(one) for one in triple)))  # type: ignore[arg-type]
        for one, above in taxonomy.parents.items():
            for parent in above:
                self.store.add(ox.Quad(ox.NamedNode(one), SUBCLASS, ox.NamedNode(parent), _GRAPH))
        for one, of in taxonomy.types.items():
            for type_ in of:
                self.store.add(ox.Quad(ox.NamedNode(one), TYPE, ox.NamedNode(type_), _GRAPH))

    def rows(self, pattern: Pattern) -> set[tuple[str, ...]]:
        """Return the bindings as texts; one empty row where a pattern without variables matches."""
        query = sparql_of(pattern)
        if not pattern.variables:
            asked = query.replace("SELECT DISTINCT * WHERE", "ASK")
            return {()} if bool(self.store.query(asked)) else set()
        return {tuple(_written(one) for one in row) for row in self.store.query(query)}  # type: ignore[union-attr]


def _written(term: object) -> str:
    if isinstance(term, ox.NamedNode):
        return written(Iri(term.value))
    if isinstance(term, ox.BlankNode):
        return f"_:{term.value}"
    assert isinstance(term, ox.Literal)
    from knowledge_manager.graphs.terms import literal

    return written(literal(term.value, term.datatype.value, term.language or ""))


def brute_rows(pattern: Pattern, graph: Graph, taxonomy: Taxonomy) -> set[tuple[str, ...]]:
    """Return the bindings by trying every assignment of nodes."""
    statements = Statements(graph, taxonomy)
    found = set()
    for nodes in product(range(len(statements.nodes)), repeat=pattern.variables):

        def end(one: object, nodes: tuple[int, ...] = nodes) -> object:
            return statements.nodes[nodes[one]] if isinstance(one, int) else one

        if not all((end(edge.subject), edge.property, end(edge.object)) in graph for edge in pattern.edges):
            continue
        if all(
            statements.differ(nodes[one.variable], nodes[one.operand])
            if isinstance(one.operand, int)
            else statements.holds(one, nodes[one.variable])
            for one in pattern.constraints
        ):
            found.add(tuple(written(statements.nodes[node]) for node in nodes))
    return found
