"""Rings: an odd ring of variables over two-coloured statements, where no odd ring is. Backtracking took 992
ms for 7 variables; arc consistency with one cut variable takes microseconds.
"""

from collections.abc import Iterator

from benchmarks.graph.populations import name, property_, seconds, table_with, vectors_of
from benchmarks.measurement import Measurement, alone, at_most
from knowledge_manager.graphs.terms import Graph, Triple
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.pattern import Edge, Pattern

MILLISECOND = 1e-3


def measure() -> Iterator[Measurement]:
    """Time rings of 3 to 15 variables on 128 statements, and four that all know each other on many."""
    for size in (3, 7, 11, 15):
        took = _took(ring(size), two_coloured(8, 8))
        if size == 15:
            yield at_most("graph_odd_ring_of_15_on_128_milliseconds", took / MILLISECOND, 1.0, 1.0)
        else:
            yield alone(f"graph_odd_ring_of_{size}_on_128_milliseconds", took / MILLISECOND)
    yield alone("graph_four_cliques_on_294_milliseconds", _took(clique(4), three_coloured(7)) / MILLISECOND)


def ring(size: int) -> Pattern:
    """Return variables in a ring."""
    return Pattern(size, tuple(Edge(at, property_(0), (at + 1) % size) for at in range(size)))


def clique(size: int) -> Pattern:
    """Return variables of which each is joined to every other."""
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    return Pattern(size, tuple(Edge(a, property_(0), b) for a, b in pairs))


def two_coloured(left: int, right: int) -> Graph:
    """Return statements between two sides, both ways."""
    pairs = [(a, left + b) for a in range(left) for b in range(right)]
    both = [*pairs, *((b, a) for a, b in pairs)]
    return frozenset(Triple(name(a), property_(0), name(b)) for a, b in both)


def three_coloured(side: int) -> Graph:
    """Return statements between three sides, both ways: nothing has four that all meet."""
    nodes = [(colour, number) for colour in range(3) for number in range(side)]
    return frozenset(
        Triple(name(100 * a[0] + a[1]), property_(0), name(100 * b[0] + b[1]))
        for a in nodes
        for b in nodes
        if a[0] != b[0]
    )


def _took(pattern: Pattern, graph: Graph) -> float:
    table = table_with()
    index = GraphIndex.build([pattern], table)
    [vector] = vectors_of([graph], table)
    assert not len(index.find(vector).concepts), "the ring must not match"
    return seconds(lambda: [index.find(vector) for _ in range(10)]) / 10
