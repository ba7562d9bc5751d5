"""Look-up of the publishers that can serve a pattern, by the facets of its properties."""

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.graph_class import GraphClass
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.vectors import decode_pattern
from plugins.language import Requirement
from plugins.lookup import MeasuresAny


class GraphLookUp:
    """A publisher serves a pattern if it fills, in some graph class, the facets of all its properties."""

    def __init__(self, table: MissionTable) -> None:
        self._dictionary = table.dictionary
        self._graphs = table.graphs

    def question(self, body: bytes) -> MeasuresAny:
        """Return one alternative per graph class that has all properties. An invalid body raises
        `VectorError`.
        """
        pattern = decode_pattern(body, self._dictionary)
        found = ((graph, facets_of(pattern, graph)) for graph in self._graphs)
        return MeasuresAny(tuple(Requirement(graph.index, facets) for graph, facets in found if facets))


def facets_of(pattern: Pattern, graph: GraphClass) -> frozenset[int]:
    """Return the facets of a pattern's properties; nothing if one property has none."""
    found = {graph.facet_of(edge.property.text) for edge in pattern.edges}
    return frozenset(one for one in found if one is not None) if None not in found else frozenset()
