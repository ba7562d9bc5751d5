"""Matching is bounded by counted work, the same in plain and compiled code. Nothing here looks at a clock."""

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.graphs.taxonomy import NO_TAXONOMY
from knowledge_manager.graphs.terms import (
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INTEGER,
    Blank,
    Graph,
    Iri,
    Literal,
    Triple,
    literal,
)
from knowledge_manager.graphs.values import value_of
from plugins.gtopss.canonical import canonical
from plugins.gtopss.language import GRAPH
from plugins.gtopss.match import MOST_BINDINGS, MOST_WORK, Judgement, Verdict, bindings, judge, judged
from plugins.gtopss.matching.fast import FastMatcher
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.pattern import ORDERS, Code, Constraint, Edge, Pattern, renumbered
from plugins.gtopss.rings import MOST_CUTS, core_of, cut_variables, lines_of
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import GraphPublication, decode_publication, encode_publication
from plugins.language import Matcher
from tests.plugins.gtopss.graphs import PROPERTIES, SMALL_TAXONOMY, patterns, small_graphs
from tests.plugins.gtopss.judges import brute_rows
from tests.plugins.gtopss.random_graphs import random_graph, random_pattern
from tests.plugins.gtopss.test_matchers import SMALL, body_of, vector_of
from tests.sizes import examples, full_in_soak

P = PROPERTIES[0]

LARGEST_STEP = 16_000
"""A unit is added before it is compared, so the last step may pass the limit by an edge's statements."""


def plainly(form: Pattern, vector: bytes) -> Judgement:
    told = decode_publication(vector, SMALL.dictionary)
    return judged(form, Statements.of(told, SMALL.taxonomy))


def compiled(form: Pattern, vector: bytes) -> Judgement:
    index = GraphIndex.build([form], SMALL)
    found = index.find(vector)
    if not len(found.concepts):
        return Judgement(Verdict.NOT, index.work)
    return Judgement(Verdict.UNDECIDED if found.is_undecided[0] else Verdict.MATCHED, index.work)


def both(pattern: Pattern, vector: bytes) -> Judgement:
    """Return the one answer of plain and compiled code."""
    form = canonical(pattern)
    found = plainly(form, vector)
    assert compiled(form, vector) == found
    return found


def every_matcher() -> list[Matcher]:
    return [*(make(SMALL) for make in GRAPH.algorithms.values()), FastMatcher(SMALL, is_compiled=False)]


def degrees(pattern: Pattern, vector: bytes) -> set[tuple[int, ...]]:
    """Return the degrees that all algorithms give one pattern."""
    found = set()
    for matcher in every_matcher():
        matcher.add((1, 1), body_of(renumbered(pattern)))
        found.add(tuple(match.degree_u8 for match in matcher.match(vector, 0, 0)))
    return found


def bipartite(side: int) -> bytes:
    """Return the complete bipartite graph of blank nodes, edges both ways."""
    pairs = [(a, side + b) for a in range(side) for b in range(side)]
    rows = [*pairs, *((b, a) for a, b in pairs)]
    return vector_of(frozenset(Triple(Blank(a), P, Blank(b)) for a, b in rows))


def two_odd_rings(size: int, *, is_joined: bool) -> Pattern:
    first = [Edge(at, P, (at + 1) % size) for at in range(size)]
    second = [Edge(size + at, P, size + (at + 1) % size) for at in range(size)]
    return Pattern(2 * size, (*first, *second, *([Edge(0, P, size)] if is_joined else [])))


def coloured(colours: int, side: int) -> bytes:
    """Return nodes of some colours, each joined to all of other colours."""
    nodes = [(colour, number) for colour in range(colours) for number in range(side)]
    blank = {node: Blank(number) for number, node in enumerate(nodes)}
    return vector_of(frozenset(Triple(blank[a], P, blank[b]) for a in nodes for b in nodes if a[0] != b[0]))


def clique(size: int) -> Pattern:
    return renumbered(Pattern(size, tuple(Edge(a, P, b) for a, b in combinations(range(size), 2))))


def path(nodes: int) -> bytes:
    return vector_of(frozenset(Triple(Blank(at), P, Blank(at + 1)) for at in range(nodes - 1)))


@pytest.mark.parametrize("is_joined", [False, True])
def test_two_odd_rings_on_a_bipartite_graph_are_bounded(is_joined: bool) -> None:
    """The pattern of 58 bytes and the report of 3.8 kB that blocked a node for 69 s."""
    vector, pattern = bipartite(30), two_odd_rings(7, is_joined=is_joined)
    assert len(vector) < 4096
    found = both(pattern, vector)
    assert found.verdict is Verdict.NOT
    assert found.work < MOST_WORK
    assert degrees(pattern, vector) == {()}


def test_a_clique_that_takes_too_much_is_undecided() -> None:
    found = both(clique(4), coloured(3, 20))
    assert found.verdict is Verdict.UNDECIDED
    assert MOST_WORK < found.work < MOST_WORK + 8 * LARGEST_STEP
    assert degrees(clique(4), coloured(3, 20)) == {(1,)}
    assert both(clique(4), coloured(3, 7)).verdict is Verdict.NOT
    assert both(clique(4), coloured(4, 20)).verdict is Verdict.MATCHED


@pytest.mark.parametrize("nodes", [200, 7000])
def test_a_ring_of_two_edges_on_a_path_is_bounded(nodes: int) -> None:
    """Every node falls away, one after the other from both ends."""
    ring = Pattern(2, (Edge(0, P, 1), Edge(1, P, 0)))
    found = both(ring, path(nodes))
    assert found.verdict is (Verdict.NOT if nodes == 200 else Verdict.UNDECIDED)
    assert found.work < MOST_WORK + 4 * LARGEST_STEP


def test_patterns_without_rings_are_always_decided() -> None:
    long = Pattern(15, tuple(Edge(at, P, at + 1) for at in range(14)))
    found = both(long, path(7000))
    assert found.verdict is Verdict.MATCHED
    assert found.work < 15 * 15 * 7000


def test_doubtful_numbers_are_settled_once_for_all_patterns() -> None:
    """Numbers beyond doubles, held against bounds beyond doubles, in a ring: as much work as exact ones."""
    beyond = 1 << 60
    ring = [Edge(0, P, 1), Edge(1, P, 2), Edge(2, P, 0), Edge(0, PROPERTIES[1], 3)]
    spent = []
    for base in (0, beyond):
        names = [Blank(number) for number in range(40)]
        rows = {Triple(a, P, b) for a in names[:20] for b in names[20:]}
        rows |= {Triple(triple.object, P, triple.subject) for triple in rows}
        values = {
            Triple(a, PROPERTIES[1], literal(str(base + at), INTEGER)) for at, a in enumerate(names[:40])
        }
        vector = vector_of(frozenset(rows | values))
        forms = [
            canonical(Pattern(4, tuple(ring), (Constraint(3, Code.LE, literal(str(base + at), INTEGER)),)))
            for at in range(40)
        ]
        index = GraphIndex.build(forms, SMALL)
        assert index.find(vector).concepts.tolist() == []
        wanted = [plainly(form, vector) for form in forms]
        assert {one.verdict for one in wanted} == {Verdict.NOT}
        assert index.work == sum(one.work for one in wanted)
        spent.append(index.work)
    assert spent[0] == spent[1]
    assert spent[1] <= 40 * MOST_WORK


def test_work_adds_up() -> None:
    """The same counts with and without compiled code, over additions, removals and publications."""
    chance = random.Random(5)
    matchers = FastMatcher(SMALL), FastMatcher(SMALL, is_compiled=False)
    for turn in range(30):
        body = body_of(random_pattern(chance))
        vectors = [vector_of(random_graph(chance)) for _ in range(3)]
        for matcher in matchers:
            matcher.add((turn % 20, 0), body)
            for vector in vectors:
                matcher.match(vector, 0, 0)
    assert matchers[0].work == matchers[1].work > 0


@st.composite
def cyclic_patterns(draw: st.DrawFn) -> Pattern:
    """Patterns whose variables form rings, with chords, `differs` and comparisons."""
    v = draw(st.integers(2, 4))
    ring = [Edge(at, P, (at + 1) % v) for at in range(v)]
    chords = draw(
        st.lists(
            st.builds(Edge, st.integers(0, v - 1), st.sampled_from(PROPERTIES[:2]), st.integers(0, v - 1)),
            max_size=2,
        )
    )
    pairs = draw(st.lists(st.sampled_from(list(combinations(range(v), 2))), max_size=2, unique=True))
    differs = [Constraint(one, Code.DIFFERS, other) for one, other in pairs]
    found = renumbered(Pattern(v, tuple(dict.fromkeys((*ring, *chords))), tuple(differs)))
    cuts = [pair for pair in combinations(range(v), 2) if not left_by(found, pair)]
    return found if cuts or not left_by(found, ()) else Pattern(v, tuple(ring))


def left_by(pattern: Pattern, fixed: tuple[int, ...]) -> list[tuple[int, int]]:
    return core_of([line for line in lines_of(pattern) if not set(line) & set(fixed)])


NUMBERS = [
    *(literal(str((1 << 60) + step), INTEGER) for step in (0, 1, 2)),
    literal(f"{(1 << 60) + 1}.0", DECIMAL),
    literal(f"{(1 << 60) + 1}.5", DECIMAL),
    literal("1.152921504606846976E18", DOUBLE),
    *(literal(text) for text in ("prefix", "prefix a", "prefix b")),
]


@st.composite
def ring_graphs(draw: st.DrawFn) -> Graph:
    names = [Blank(0), Blank(1), Blank(2), Iri("urn:n")]
    triples = st.builds(
        Triple,
        st.sampled_from(names),
        st.sampled_from(PROPERTIES[:2]),
        st.one_of(st.sampled_from(names), st.sampled_from(names), st.sampled_from(NUMBERS)),
    )
    return draw(st.frozensets(triples, min_size=1, max_size=10))


@settings(max_examples=examples(150))
@given(cyclic_patterns(), ring_graphs())
def test_rings_are_answered_as_by_trying_everything(pattern: Pattern, graph: Graph) -> None:
    rows = brute_rows(pattern, graph, NO_TAXONOMY)
    assert degrees(pattern, vector_of(graph)) == {(255,) if rows else ()}
    both(pattern, vector_of(graph))


@settings(max_examples=examples(150))
@given(
    st.sampled_from([*sorted(ORDERS), Code.EQ, Code.NE]),
    st.sampled_from(NUMBERS),
    st.frozensets(st.sampled_from(NUMBERS), min_size=1),
    st.booleans(),
)
def test_values_beyond_double_precision_compare_exactly(
    code: Code, bound: object, values: frozenset[object], has_pair: bool
) -> None:
    graph = frozenset(Triple(Iri("urn:n"), P, value) for value in values)  # type: ignore[arg-type]
    asked = (Constraint(1, code, bound),)  # type: ignore[arg-type]
    pattern = Pattern(2, (Edge(0, P, 1),), asked)
    if has_pair:
        pattern = Pattern(3, (Edge(0, P, 1), Edge(0, P, 2)), (*asked, Constraint(1, Code.DIFFERS, 2)))
    rows = brute_rows(pattern, graph, NO_TAXONOMY)
    assert degrees(pattern, vector_of(graph)) == {(255,) if rows else ()}
    both(pattern, vector_of(graph))


CLOSE_VALUES = {
    "texts with a common prefix": [
        *(literal(text) for text in ("prefix", "prefix a", "prefix b", "prefix" + 300 * "x", "a", "a\0")),
        *(literal(text, language="en") for text in ("prefix", "prefix a", "prefix b")),
    ],
    "numbers beyond doubles": NUMBERS[:6],
    "numbers at the ends of their domains": [
        *(literal(str(end), INTEGER) for end in (-(1 << 63), 1 - (1 << 63), (1 << 63) - 2, (1 << 63) - 1, 0)),
        *(literal(text, DOUBLE) for text in ("9.223372036854775807E18", "INF", "-INF", "NaN", "-0.0")),
    ],
    "ill-formed": [
        *(literal(text, INTEGER) for text in ("no", "never", "1")),
        *(literal(text, BOOLEAN) for text in ("maybe", "true")),
    ],
    "fractions of seconds": [
        literal(f"2026-05-01T00:00:00{part}Z", INSTANT) for part in ("", ".1", ".10000000001", ".10000000002")
    ],
}
"""Values that doubles or prefixes of six bytes confuse, and values that satisfy nothing."""


def close_pattern(randomness: random.Random, values: list[Literal]) -> Pattern:
    """Return a pattern that compares such values, often next to a `differs`."""
    size = randomness.choice([2, 2, 3, 4])
    edges = [Edge(randomness.randrange(at), randomness.choice(PROPERTIES[:2]), at) for at in range(1, size)]
    if randomness.random() < 0.4:
        edges.append(Edge(size - 1, P, 0))
    constraints = []
    for _ in range(randomness.choice([1, 1, 2, 3])):
        variable, operand = randomness.randrange(size), randomness.choice(values)
        codes = [Code.EQ, Code.NE] if value_of(operand) is None else [Code.EQ, Code.NE, *sorted(ORDERS)]
        constraints.append(Constraint(variable, randomness.choice(codes), operand))
    for _ in range(randomness.choice([0, 1, 1, 2])):
        one, other = sorted(randomness.sample(range(size), 2))
        constraints.append(Constraint(one, Code.DIFFERS, other))
    return Pattern(size, tuple(dict.fromkeys(edges)), tuple(dict.fromkeys(constraints)))


def close_graph(randomness: random.Random, values: list[Literal]) -> Graph:
    names = [Iri("urn:n"), Blank(0), Blank(1)]

    def triple() -> Triple:
        objects = values if randomness.random() < 0.7 else names
        return Triple(randomness.choice(names), randomness.choice(PROPERTIES[:2]), randomness.choice(objects))

    return frozenset(triple() for _ in range(randomness.randint(1, 8)))


@pytest.mark.parametrize("kind", sorted(CLOSE_VALUES))
def test_units_are_equal_for_values_that_doubles_confuse(kind: str) -> None:
    """A doubtful candidate must not be joined: its units would count although it may be none."""
    randomness, values = random.Random(kind), CLOSE_VALUES[kind]
    for _ in range(full_in_soak(150, 3000)):
        form = canonical(close_pattern(randomness, values))
        index = GraphIndex.build([form], SMALL)
        for _ in range(8):
            vector, before = vector_of(close_graph(randomness, values)), index.work
            expected, found = plainly(form, vector), index.find(vector)
            assert bool(len(found.concepts)) == (expected.verdict is not Verdict.NOT), (form, vector)
            assert index.work - before == expected.work, (form, vector)


@pytest.mark.parametrize("value", ["prefix", "prefix a"])
def test_failed_comparison_next_to_differs_counts_nothing(value: str) -> None:
    graph = frozenset({Triple(Iri("urn:n"), P, literal(value))})
    above = Constraint(1, Code.GT, literal("prefix a"))
    pattern = Pattern(3, (Edge(0, P, 1), Edge(0, P, 2)), (above, Constraint(1, Code.DIFFERS, 2)))
    assert both(pattern, vector_of(graph)) == Judgement(Verdict.NOT, 0)


def test_ill_formed_candidates_count_before_differs_removes_them() -> None:
    no, yes = literal("no", INTEGER), literal("1", INTEGER)
    graph = frozenset({Triple(Iri("urn:n"), P, no), Triple(Iri("urn:n"), P, yes)})
    others = [Constraint(variable, Code.NE, Iri("urn:top")) for variable in (0, 1)]
    pattern = Pattern(2, (Edge(0, P, 1),), (others[0], Constraint(0, Code.DIFFERS, 1), others[1]))
    assert canonical(pattern) == pattern
    edge, own = 2, 1 + 2
    join = 2 + (1 + 1)
    cut = 2 + join
    assert both(pattern, vector_of(graph)) == Judgement(Verdict.MATCHED, edge + own + join + cut)


@given(patterns(), small_graphs())
def test_units_are_equal_in_plain_and_compiled_code(pattern: Pattern, graph: Graph) -> None:
    both(pattern, vector_of(graph))


@settings(max_examples=examples(60))
@given(cyclic_patterns(), ring_graphs(), st.integers(0, 60))
def test_the_limit_is_reached_at_the_same_unit(pattern: Pattern, graph: Graph, most: int) -> None:
    """With any limit, plain and compiled code leave off at the same place; a decided pair stays decided."""
    form, vector = canonical(pattern), vector_of(graph)
    index = GraphIndex.build([form], SMALL, most_work=most)
    found = index.find(vector)
    whole = plainly(form, vector)
    told = Statements.of(decode_publication(vector, SMALL.dictionary), SMALL_TAXONOMY)
    limited = judged(form, told, most)
    assert index.work == limited.work
    assert bool(len(found.concepts)) == (limited.verdict is not Verdict.NOT)
    assert bool(found.is_undecided.any()) == (limited.verdict is Verdict.UNDECIDED)
    assert limited.verdict in (whole.verdict, Verdict.UNDECIDED)
    assert limited.work <= whole.work


def test_bindings_of_a_bounded_pair_are_bounded() -> None:
    star = Pattern(4, tuple(Edge(0, P, at) for at in (1, 2, 3)))
    told = Statements.of(decode_publication(bipartite(30), SMALL.dictionary), NO_TAXONOMY)
    found = bindings(star, told)
    assert len(found.rows) == MOST_BINDINGS
    assert found.has_more
    assert bindings(two_odd_rings(7, is_joined=False), told).rows == ()


@settings(max_examples=examples(300))
@given(st.integers(3, 7), st.data())
def test_cut_variables_are_found_wherever_two_suffice(size: int, data: st.DataObject) -> None:
    """Every pair is tried: a pattern is refused only where no two variables cut all its rings."""
    ends = st.integers(0, size - 1)
    lines = data.draw(st.lists(st.tuples(ends, ends), min_size=size, max_size=2 * size, unique=True))
    edges = [Edge(one, P, other) for one, other in lines]
    pattern = Pattern(size, (*edges, *(Edge(at, PROPERTIES[1], Iri("urn:n")) for at in range(size))))
    cuts = cut_variables(pattern)
    suffices = any(not left_by(pattern, pair) for pair in combinations(range(size), 2))
    assert (len(cuts) <= MOST_CUTS) == suffices
    assert not left_by(pattern, cuts)


def test_a_pattern_that_the_most_lines_alone_do_not_cut() -> None:
    lines = [(0, 2), (0, 4), (1, 3), (3, 5), (2, 1), (2, 3), (4, 0), (4, 2), (5, 3)]
    pattern = Pattern(6, tuple(Edge(one, P, other) for one, other in lines))
    assert cut_variables(pattern) == (0, 3)
    assert judge(pattern, Statements(frozenset({Triple(Iri("urn:n"), P, Iri("urn:n"))}), NO_TAXONOMY)) is (
        Verdict.MATCHED
    )


def test_a_large_publication_is_searched_in_proportion() -> None:
    """Types are found by their subject: statements × types were looked at for each class before."""
    rows = {Triple(Iri(f"urn:s{at}"), PROPERTIES[2], Iri("urn:low")) for at in range(3000)}
    vector = encode_publication(GraphPublication(frozenset(rows)), SMALL.dictionary)
    pattern = Pattern(2, (Edge(0, PROPERTIES[2], 1),), (Constraint(0, Code.IS_A, Iri("urn:top")),))
    found = both(pattern, vector)
    assert found == Judgement(Verdict.MATCHED, 3000 + 3000 + 3000)
