"""`fast` beside judges and beside the chapter's own algorithms: 30,000 patterns, publications of 90
statements, each matching about a thousandth, processor seconds of one publication. rdflib and pyoxigraph run
each pattern's query, prepared if possible; what takes minutes is measured on a part of them
and multiplied. And what bytes cost beside zlib.
"""

import random
import time
import zlib
from collections.abc import Callable, Iterator, Sequence

from benchmarks.graph.populations import mixed, publication, seconds, table_with, vectors_of
from benchmarks.measurement import Measurement, alone, at_least, at_most
from benchmarks.sizes import sized
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Graph, Iri, Term, written
from knowledge_manager.mission_table import load_mission_table
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.matching.improved import ImprovedSearch
from plugins.gtopss.matching.original import OriginalSearch
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.sparql_text import sparql_of
from plugins.gtopss.statements import Statements

COUNT = sized(30_000, 60)
PUBLICATIONS, BASES = sized((100, 1000), (3, 10))
PART = sized(300, 10)
"""Patterns for the slow peers."""
MILLISECOND = 1e-3


def measure() -> Iterator[Measurement]:
    """Compare, in one run."""
    rng = random.Random(21)
    bases = [publication(rng) for _ in range(BASES)]
    patterns, graphs = mixed(COUNT, bases, 22), bases[:PUBLICATIONS]
    table = table_with()
    vectors = vectors_of(graphs, table)
    index = GraphIndex.build(patterns, table)
    for vector in vectors:
        index.find(vector)
    index = GraphIndex.build(patterns, table, index)
    ours = seconds(lambda: [index.find(vector) for vector in vectors]) / len(vectors)
    yield alone("graph_fast_milliseconds", ours / MILLISECOND)
    yield alone(
        "graph_matches_a_publication", sum(len(index.find(one).concepts) for one in vectors) / len(vectors)
    )
    part = rng.sample(patterns, PART)
    found = index.find(vectors[0]).concepts.tolist()
    agreed = [patterns[number] for number in found]
    for name, asked, goal in (
        ("rdflib", _rdflib(graphs[0], part), 5_000.0),
        ("pyoxigraph", _oxigraph(graphs[0], part, agreed), 2_500.0),
    ):
        yield at_least(f"graph_fast_against_{name}", 1 / ours, 1 / (asked * COUNT / PART), goal)
    yield at_least("graph_fast_against_duckdb_count", 1 / ours, 1 / _duckdb(graphs, patterns), 10.0)
    for name, search, goal in (("original", OriginalSearch(), 20.0), ("improved", ImprovedSearch(), 30.0)):
        for number, pattern in enumerate(patterns):
            search.enter((number, 0), pattern)  # type: ignore[attr-defined]
        statements = [Statements(graph, Taxonomy()) for graph in graphs[:5]]
        theirs = seconds(lambda: [list(search.judgements(one)) for one in statements], 1) / len(statements)  # type: ignore[attr-defined] # noqa: B023
        yield at_least(f"graph_fast_against_{name}", 1 / ours, 1 / theirs, goal)
    yield from _bytes()


def _rdflib(graph: Graph, patterns: Sequence[Pattern]) -> float:
    """Return the seconds of rdflib for these patterns, prepared."""
    from rdflib import Graph as RdfGraph
    from rdflib import URIRef
    from rdflib.plugins.sparql import prepareQuery

    store = RdfGraph()
    for triple in graph:
        store.add(tuple(URIRef(_iri(one)) for one in triple))  # type: ignore[arg-type]
    queries = [prepareQuery(sparql_of(pattern)) for pattern in patterns]
    return _timed(lambda: [bool(list(store.query(query))) for query in queries])


def _oxigraph(graph: Graph, patterns: Sequence[Pattern], agreed: Sequence[Pattern]) -> float:
    """Return the seconds of pyoxigraph for these patterns; what we found, it must find too."""
    import pyoxigraph as ox

    store = ox.Store()
    for triple in graph:
        store.add(ox.Quad(*(ox.NamedNode(_iri(one)) for one in triple)))
    for pattern in agreed:
        assert list(store.query(sparql_of(pattern))), "a judge says otherwise"  # type: ignore[arg-type]
    queries = [sparql_of(pattern) for pattern in patterns]
    return _timed(lambda: [list(store.query(query)) for query in queries])  # type: ignore[arg-type]


def _duckdb(graphs: Sequence[Graph], patterns: Sequence[Pattern]) -> float:
    """Return the seconds of one publication where DuckDB counts the edges of patterns that are there, by four
    joins on hashes, one thread; variables are not even joined.
    """
    import duckdb
    import pandas as pd

    rows = [
        (
            number,
            edge.property.text,
            *(None if isinstance(end, int) else _iri(end) for end in (edge.subject, edge.object)),
        )
        for number, pattern in enumerate(patterns)
        for edge in pattern.edges
    ]
    edges = pd.DataFrame(rows, columns=["pattern", "p", "s", "o"])
    sizes = pd.DataFrame(
        [(number, len(one.edges)) for number, one in enumerate(patterns)], columns=["pattern", "size"]
    )
    database = duckdb.connect(config={"threads": 1})
    for name, frame in (("edges", edges), ("sizes", sizes)):
        database.register("frame", frame)
        database.execute(f"create table {name} as select * from frame")
    database.execute("create table numbered as select row_number() over () as edge, * from edges")
    query = """
        with hit as (
            select edge, pattern from numbered e join stated t on e.p = t.p and e.s = t.s and e.o = t.o union
            select edge, pattern from numbered e join stated t on e.p = t.p and e.s = t.s and e.o is null
            union select edge, pattern from numbered e join stated t on e.p = t.p and e.o = t.o and e.s is
            null union select edge, pattern from numbered e join stated t on e.p = t.p and e.s is null and e.o
            is null ) select h.pattern from hit h join sizes z on h.pattern = z.pattern group by h.pattern,
            z.size having count(distinct edge) = z.size
    """
    took = []
    for graph in graphs[:6]:
        statements = pd.DataFrame(
            [tuple(_iri(one) for one in triple) for triple in graph], columns=["s", "p", "o"]
        )
        database.register("stated", statements)
        took.append(_timed(lambda: database.execute(query).fetchall()))
    return min(took)


def _bytes() -> Iterator[Measurement]:
    """Compare what travels with compressed text: the item and the pattern of the page."""
    table = load_mission_table(["reports"])
    item = TURTLE.encode()
    from knowledge_manager.graphs.graph_reader import read_graph
    from plugins.gtopss.authoring.compile import compile_pattern

    [vector] = vectors_of([read_graph(item, "item.ttl", "turtle").graph], table)
    yield at_most("graph_publication_against_zlib_of_turtle", len(vector), len(zlib.compress(item, 9)), 0.5)
    body = compile_pattern(QUERY.encode(), "flood.rq", table).body
    yield at_most(
        "graph_pattern_against_zlib_of_sparql", len(body) + 3, len(zlib.compress(QUERY.encode(), 9)), 0.2
    )


def _iri(term: Term) -> str:
    return term.text if isinstance(term, Iri) else written(term)


def _timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


TURTLE = """@prefix rss: <http://purl.org/rss/1.0/> .
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix t: <urn:dens:hazard:> .
@prefix place: <urn:dens:place:> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<https://example.org/n/41> a rss:item ; rss:title "Dam at Skjelv leaks"@en ;
  dc:date "2026-05-02T06:30:00Z"^^xsd:dateTime ; dc:subject t:flashFlood ; dcterms:spatial place:skjelv .
"""

QUERY = """PREFIX rss: <http://purl.org/rss/1.0/>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
PREFIX t: <urn:dens:hazard:>
PREFIX g: <urn:dens:graph:1#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT * { ?item a rss:item ; dc:subject ?topic ; dc:date ?when .
  FILTER(g:isA(?topic, t:flood) && ?when >= "2026-05-01T00:00:00Z"^^xsd:dateTime) }
"""
