"""From an RDF file to its notification."""

from pathlib import PurePath

from dens.config.problems import DocumentError, Problem, listed
from dens.config.reading import refuse_large
from knowledge_manager.graphs.graph_reader import ReadGraph, properties_of, read_graph
from knowledge_manager.graphs.terms import Graph, Literal
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.rdf_text import FORMATS
from knowledge_manager.vocabulary.graph_class import GraphClass
from plugins.gtopss.authoring.words import term_words
from plugins.gtopss.vectors import GraphPublication, encode_publication
from plugins.publications import Publication
from watchdog.lifetime import lifetime_code

SHOWN_LITERALS = 3


class GraphPublications:
    """Reads publications. All errors raise one `DocumentError`."""

    def read(self, source: bytes, file: str, table: MissionTable) -> Publication:
        """Return a file as a notification with number 0 and timestamp 0."""
        return publication_of(read_publication(source, file).graph, file, table)


def read_publication(source: bytes, file: str) -> ReadGraph:
    """Return the graph of a file, by its file name suffix."""
    refuse_large(source, file)
    suffix = PurePath(file).suffix.lower()
    if suffix not in FORMATS:
        message = f'unknown suffix "{suffix}" ({listed(list(FORMATS))})'
        raise DocumentError.of_file(file, "D506", message)
    return read_graph(source, file, FORMATS[suffix])


def publication_of(graph: Graph, file: str, table: MissionTable) -> Publication:
    """Return a graph as a notification. One that is too large for its graph class raises `DocumentError`."""
    of = graph_class_for(graph, file, table)
    told = GraphPublication(graph, valid=lifetime_code(of.notification_lifetime_s))
    vector = encode_publication(told, table.dictionary)
    if len(vector) > of.most_bytes:
        raise _too_large(vector, graph, file, of, table)
    return Publication(vector, of.name, facet_names(graph, of))


def graph_class_for(graph: Graph, file: str, table: MissionTable) -> GraphClass:
    """Return the graph class whose facets have the most of a graph's properties, not counting open facets; of
    equal ones the first.
    """
    if not table.graphs:
        message = "the mission table has no graph class; load a vocabulary with [[graph]], such as reports"
        raise DocumentError.of_file(file, "D508", message)
    stated = {one.text for one in properties_of(graph)}
    return max(
        table.graphs, key=lambda of: sum(one in facet.properties for one in stated for facet in of.facets)
    )


def facet_names(graph: Graph, of: GraphClass) -> tuple[str, ...]:
    """Return the facets of a graph's properties."""
    indexes = {of.facet_of(one.text) for one in properties_of(graph)}
    return tuple(facet.name for facet in of.facets if facet.index in indexes)


def _too_large(vector: bytes, graph: Graph, file: str, of: GraphClass, table: MissionTable) -> DocumentError:
    literals = {triple.object for triple in graph if isinstance(triple.object, Literal)}
    largest = sorted(literals, key=lambda one: -len(one.text.encode()))[:SHOWN_LITERALS]
    named = [f"{_cut(term_words(one, table.dictionary))} ({len(one.text.encode())} bytes)" for one in largest]
    message = (
        f"{len(vector)} bytes; a {of.name} has at most {of.most_bytes}. "
        f"Its largest texts: {listed(named)}; shorten them, or raise most_bytes"
    )
    return DocumentError([Problem(file, 0, 0, "error", "D504", message)])


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
