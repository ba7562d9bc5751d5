"""Laws of the language: what the filter lets pass, what more statements do, what names and order do."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.graphs.taxonomy import NO_TAXONOMY
from knowledge_manager.graphs.terms import Blank, Graph, Triple
from plugins.gtopss.canonical import canonical
from plugins.gtopss.filter import GraphSourceFilter
from plugins.gtopss.lookup import GraphLookUp
from plugins.gtopss.match import Verdict, judge
from plugins.gtopss.matching.fast import FastMatcher
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.pattern import Edge, Pattern, renumbered
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import GraphPublication, encode_pattern, encode_publication
from tests.plugins.gtopss.graphs import REPORTS, SMALL_TAXONOMY, patterns, small_graphs, term
from tests.plugins.gtopss.random_graphs import random_graph, random_pattern
from tests.plugins.gtopss.test_matchers import SMALL, body_of, vector_of


def verdict(pattern: Pattern, graph: Graph) -> Verdict:
    return judge(pattern, Statements(graph, SMALL_TAXONOMY))


@given(patterns(), small_graphs(), st.sampled_from(["its own", "old", "missing"]))
def test_what_matches_is_released(pattern: Pattern, graph: Graph, known: str) -> None:
    if known == "its own":
        filter_ = GraphSourceFilter(SMALL)
    else:
        filter_ = GraphSourceFilter(WITHOUT if known == "missing" else SMALL, "another mission's")
    filter_.add((1, 1), body_of(pattern))
    released = filter_.offer(vector_of(graph))
    if verdict(pattern, graph) is not Verdict.NOT:
        assert [release.vector for release in released] == [vector_of(graph)]
    filter_.remove((1, 1))
    assert filter_.offer(vector_of(graph)) == []


@given(patterns(), small_graphs(), small_graphs())
def test_more_statements_lose_no_match(pattern: Pattern, graph: Graph, more: Graph) -> None:
    if verdict(pattern, graph) is Verdict.MATCHED:
        assert verdict(pattern, graph | more) is Verdict.MATCHED


@given(patterns(), small_graphs(), st.randoms(use_true_random=False))
def test_names_and_order_change_nothing(pattern: Pattern, graph: Graph, chance: random.Random) -> None:
    edges, asked = list(pattern.edges), list(pattern.constraints)
    chance.shuffle(edges)
    chance.shuffle(asked)
    other = renumbered(Pattern(pattern.variables, tuple(edges), tuple(asked)))
    assert canonical(other) == canonical(pattern)
    swapped = frozenset(
        Triple(*(Blank(1 - one.number) if isinstance(one, Blank) else one for one in triple))
        for triple in graph
    )
    assert verdict(other, swapped) is verdict(pattern, graph)


def test_no_sender_can_make_a_matcher_remember() -> None:
    matcher, chance = FastMatcher(SMALL), random.Random(3)
    for number in range(80):
        matcher.add((number, 0), body_of(random_pattern(chance)))
    index, _ = matcher.index()
    held = index.to_arrays()[0]
    before = {name: array.nbytes for name, array in held.items()}
    for number in range(2000):
        strange = frozenset({Triple(term(f"ex:s{number}"), term(f"ex:p{number}"), term(f"ex:o{number}"))})
        assert matcher.match(vector_of(strange), 0, 0) == []
    assert {name: array.nbytes for name, array in index.to_arrays()[0].items()} == before
    assert len(index._room.nodes) == 1024, "room grows with the largest publication alone"


@pytest.mark.slow
def test_an_index_is_written_down_and_read_again() -> None:
    chance = random.Random(7)
    concepts = list(dict.fromkeys(canonical(random_pattern(chance)) for _ in range(120)))
    index = GraphIndex.build(concepts, SMALL)
    arrays, header = index.to_arrays()
    for array in arrays.values():
        array.flags.writeable = False
    again = GraphIndex.from_arrays(arrays, header, SMALL)
    for _ in range(40):
        vector = vector_of(random_graph(chance))
        one, other = index.find(vector), again.find(vector)
        assert one.concepts.tolist() == other.concepts.tolist()
        assert one.is_undecided.tolist() == other.is_undecided.tolist()
    for number, concept in enumerate(concepts):
        found = again.pattern(number)
        assert (set(found.edges), set(found.constraints)) == (set(concept.edges), set(concept.constraints))


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_large_populations_are_answered_as_by_the_definition(seed: int) -> None:
    chance = random.Random(seed)
    concepts = list(dict.fromkeys(canonical(random_pattern(chance)) for _ in range(150)))
    index = GraphIndex.build(concepts, SMALL)
    for turn in range(16):
        graph = random_graph(chance)
        found, statements = index.find(vector_of(graph)), Statements(graph, SMALL_TAXONOMY)
        wanted = [number for number, one in enumerate(concepts) if judge(one, statements) is not Verdict.NOT]
        assert found.concepts.tolist() == wanted
        if turn == 9:
            index = GraphIndex.build(concepts, SMALL, index)


def test_look_up_asks_for_the_facets_of_all_properties() -> None:
    pattern = Pattern(
        2, (Edge(0, term("dc:subject"), 1), Edge(0, term("dcterms:spatial"), 1), Edge(0, term("ex:other"), 1))
    )
    [wanted] = GraphLookUp(REPORTS).question(encode_pattern(pattern, REPORTS.dictionary)).alternatives
    report = REPORTS.source_class("report")
    assert wanted.event == report.index
    names = {report.attribute_at(index).name for index in wanted.attributes}
    assert names == {"topic", "place", "other"}


def test_a_feed_of_readings_releases_nothing() -> None:
    from watchdog.reading import Reading

    assert GraphSourceFilter(REPORTS).feed(Reading(1)) == []


def test_publications_and_patterns_are_small() -> None:
    """An item is less than half of what zlib makes of its Turtle; benchmarks/graph/peers.py measures more."""
    import zlib

    from knowledge_manager.graphs.graph_reader import read_graph
    from tests.plugins.gtopss.graphs import ITEM

    graph = read_graph(ITEM.encode(), "item.ttl", "turtle").graph
    vector = encode_publication(GraphPublication(graph), REPORTS.dictionary)
    assert len(vector) <= 0.5 * len(zlib.compress(ITEM.encode(), 9))


WITHOUT = type(SMALL)(
    tuple(
        type(one)(
            one.name,
            one.version,
            one.feature_bytes,
            one.events,
            graphs=tuple(
                type(graph)(graph.name, graph.index, graph.namespaces, graph.terms, graph.facets, NO_TAXONOMY)
                for graph in one.graphs
            ),
        )
        for one in SMALL.vocabularies
    )
)
