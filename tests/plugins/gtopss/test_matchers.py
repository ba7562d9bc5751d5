"""Every algorithm answers what the definition answers, through any history."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.graphs.terms import (
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INTEGER,
    Graph,
    Iri,
    Literal,
    Triple,
    literal,
)
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Vocabulary
from knowledge_manager.vocabulary.graph_class import Facet, GraphClass
from plugins.gtopss.language import GRAPH
from plugins.gtopss.matching.fast import FastMatcher
from plugins.gtopss.pattern import ORDERS, Code, Constraint, Edge, Pattern, renumbered
from plugins.gtopss.rings import cut_variables
from plugins.gtopss.vectors import GraphPublication, encode_pattern, encode_publication
from plugins.language import Matcher
from tests.plugins.gtopss.graphs import CLASSES, PROPERTIES, SMALL_TAXONOMY, patterns, small_graphs
from tests.sizes import examples

SMALL = MissionTable(
    (
        Vocabulary(
            "small",
            1,
            1,
            (),
            graphs=(
                GraphClass(
                    "small",
                    0,
                    {"u": "urn:"},
                    tuple(one.text for one in (*PROPERTIES[:3], CLASSES[0])),
                    (Facet("any", 0, (), is_open=True),),
                    SMALL_TAXONOMY,
                ),
            ),
        ),
    )
)


def body_of(pattern: Pattern) -> bytes:
    return encode_pattern(pattern, SMALL.dictionary)


def vector_of(graph: Graph) -> bytes:
    return encode_publication(GraphPublication(graph), SMALL.dictionary)


FACTORIES: dict[str, Callable[[], Matcher]] = {
    name: (lambda make=make: make(SMALL)) for name, make in GRAPH.algorithms.items() if name != "naive"
}
FACTORIES["plain"] = lambda: FastMatcher(SMALL, is_compiled=False)


@pytest.mark.parametrize("name", sorted(FACTORIES))
@given(
    history=st.lists(st.tuples(st.integers(0, 5), st.one_of(st.none(), patterns(edges=4))), max_size=12),
    graphs=st.lists(small_graphs(), min_size=1, max_size=3),
)
@settings(max_examples=examples(60))
def test_any_history_is_answered_alike(
    name: str, history: list[tuple[int, Pattern | None]], graphs: list[Graph]
) -> None:
    ours, judge = FACTORIES[name](), GRAPH.algorithms["naive"](SMALL)
    vectors = [(vector_of(graph), 0) for graph in graphs]
    for key, pattern in history:
        for matcher in (ours, judge):
            if pattern is None:
                matcher.remove((key, 0))
            else:
                matcher.add((key, 0), body_of(pattern))
        assert ours.match(vectors[0][0], 0, 0) == judge.match(vectors[0][0], 0, 0)
    assert list(ours.match_batch(vectors, 0)) == list(judge.match_batch(vectors, 0))


def answers(pattern: Pattern, graph: Graph) -> set[bool]:
    """Return what all algorithms say, each of which must say the same."""
    found = set()
    for make in (*FACTORIES.values(), lambda: GRAPH.algorithms["naive"](SMALL)):
        matcher = make()
        matcher.add((1, 1), body_of(pattern))
        found.add(bool(matcher.match(vector_of(graph), 0, 0)))
    return found


@pytest.mark.parametrize("code", sorted(ORDERS))
@pytest.mark.parametrize(
    ("node", "bound"),
    [
        (literal("5", INTEGER), literal("5", INTEGER)),
        (literal("5", INTEGER), literal("5.0", DECIMAL)),
        (literal("5.0", DECIMAL), literal("5.0", DOUBLE)),
        (literal("4.67", DECIMAL), literal("4.67", DECIMAL)),
        (literal("b"), literal("b")),
        (literal("longer text", language="en"), literal("longer text", language="en")),
        (literal("2026-05-01", DATE), literal("2026-05-01", DATE)),
        (literal("2026-05-01T00:00:00.25Z", INSTANT), literal("2026-05-01T00:00:00.25Z", INSTANT)),
    ],
)
def test_a_bound_is_closed_or_open(code: Code, node: Literal, bound: Literal) -> None:
    graph = frozenset({Triple(Iri("urn:n"), Iri("urn:p"), node)})
    pattern = Pattern(2, (Edge(0, Iri("urn:p"), 1),), (Constraint(1, code, bound),))
    assert answers(pattern, graph) == {code in (Code.LE, Code.GE)}


@pytest.mark.parametrize(
    ("node", "bound", "is_below"),
    [
        (literal("9007199254740993", INTEGER), literal("9007199254740992", INTEGER), False),
        (literal("9007199254740992", INTEGER), literal("9007199254740993", INTEGER), True),
        (literal("0.1", DECIMAL), literal("0.10000000000000001", DECIMAL), True),
        (literal("longer text a"), literal("longer text b"), True),
        (literal("longer text b"), literal("longer text a"), False),
    ],
)
def test_values_beyond_double_precision_compare_exactly(
    node: Literal, bound: Literal, is_below: bool
) -> None:
    graph = frozenset({Triple(Iri("urn:n"), Iri("urn:p"), node)})
    for code, wanted in ((Code.LT, is_below), (Code.GE, not is_below), (Code.EQ, False), (Code.NE, True)):
        pattern = Pattern(2, (Edge(0, Iri("urn:p"), 1),), (Constraint(1, code, bound),))
        assert answers(pattern, graph) == {wanted}


def coloured(colours: int, side: int) -> Graph:
    """Return nodes of some colours, each joined both ways to all of other colours."""
    nodes = [(colour, number) for colour in range(colours) for number in range(side)]
    return frozenset(
        Triple(Iri(f"urn:n{a[0]}{a[1]}"), Iri("urn:p"), Iri(f"urn:n{b[0]}{b[1]}"))
        for a in nodes
        for b in nodes
        if a[0] != b[0]
    )


def test_rings_close_or_do_not() -> None:
    """Arc consistency alone keeps every node; one cut decides the ring, two the four that all meet."""
    for size in (3, 5, 7, 15):
        ring = Pattern(size, tuple(Edge(at, Iri("urn:p"), (at + 1) % size) for at in range(size)))
        assert answers(ring, coloured(2, 3)) == {False}
        assert answers(ring, coloured(3, 2)) == {True}
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    clique = renumbered(Pattern(4, tuple(Edge(a, Iri("urn:p"), b) for a, b in pairs)))
    assert len(cut_variables(clique)) == 2
    assert answers(clique, coloured(3, 2)) == {False}
    assert answers(clique, coloured(4, 1)) == {True}


def test_what_could_take_too_long_is_undecided_for_all() -> None:
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    clique = renumbered(Pattern(4, tuple(Edge(a, Iri("urn:p"), b) for a, b in pairs)))
    large = vector_of(coloured(3, 32))
    found = set()
    for make in (*FACTORIES.values(), lambda: GRAPH.algorithms["naive"](SMALL)):
        matcher = make()
        matcher.add((1, 1), body_of(clique))
        [match] = matcher.match(large, 0, 0)
        found.add((match.degree_u8, match.detail))
    assert found == {(1, b"\x01")}
