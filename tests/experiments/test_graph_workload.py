"""The workload of chapter 5: sizes, shares and seeds are as documented."""

from dataclasses import replace
from itertools import product

import pytest

from dens_experiments.graph_workload import Drawn, DrawnPattern, GraphWorkload, Statement, same_structure

COUNT = 1000
WORKLOAD = replace(GraphWorkload(), matched=0.01, bases=4)


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return WORKLOAD.drawn(COUNT, 8, 1)


def is_satisfied(pattern: DrawnPattern, told: tuple[Statement, ...]) -> bool:
    """Try every assignment of nodes to variables: the definition, for two variables at most."""
    stated = set(told)
    nodes = sorted({str(end) for one in told for end in (one[0], one[2])})
    if not {end for edge in pattern.edges for end in (edge[0], edge[2]) if isinstance(end, str)} <= set(
        nodes
    ):
        return False
    for chosen in product(nodes, repeat=pattern.variables):

        def bound(end: int | str, chosen: tuple[str, ...] = chosen) -> str:
            return chosen[end] if isinstance(end, int) else end

        if all((bound(s), p, bound(o)) in stated for s, p, o in pattern.edges):
            return True
    return False


def test_the_same_seed_draws_the_same_and_another_another(drawn: Drawn) -> None:
    assert WORKLOAD.drawn(COUNT, 8, 1) == drawn
    assert WORKLOAD.drawn(COUNT, 8, 2) != drawn


def test_sizes_are_those_of_the_table(drawn: Drawn) -> None:
    assert len(drawn.subscriptions) == COUNT
    for told in drawn.publications:
        assert len(set(told)) == 90
        assert len({end for one in told for end in (one[0], one[2])}) == 35
    assert {len(pattern.edges) for pattern in drawn.subscriptions} == set(range(2, 9))
    for pattern in drawn.subscriptions:
        ends = [end for edge in pattern.edges for end in (edge[0], edge[2])]
        numbers = [end for end in dict.fromkeys(ends) if isinstance(end, int)]
        assert numbers == list(range(pattern.variables))
        assert pattern.variables <= 2
        assert pattern.variables < len(set(ends))
    starred = sum(pattern.variables > 0 for pattern in drawn.subscriptions)
    assert 0.6 * COUNT < starred < 0.95 * COUNT, "fewer than drawn: variables become constants"


def test_publication_satisfies_the_requested_share(drawn: Drawn) -> None:
    for told in drawn.publications[:4]:
        found = sum(is_satisfied(pattern, told) for pattern in drawn.subscriptions)
        assert 10 <= found <= 12, "ten are parts of it; hardly any other matches at random"


@pytest.mark.parametrize("overlap", [0.0, 0.5, 0.9])
def test_as_many_as_overlap_specialise_another(overlap: float) -> None:
    """Of a specialised one some other has all edges but one, or the same with a variable for a constant."""
    found = replace(WORKLOAD, overlap=overlap, starred=0.0).drawn(400, 1, 3)
    edges = [frozenset(pattern.edges) for pattern in found.subscriptions]
    contained = sum(any(other < one for other in edges) for one in edges)
    assert contained == pytest.approx(overlap * 400, abs=0.1 * 400)


def test_sizes_can_be_fixed() -> None:
    found = replace(WORKLOAD, least_edges=6, most_edges=6, subscription_nodes=4, matched=0.0).drawn(50, 1, 1)
    for pattern in found.subscriptions:
        assert len(pattern.edges) == 6
        assert len({end for edge in pattern.edges for end in (edge[0], edge[2])}) == 4


def test_requested_number_of_one_structure_matches() -> None:
    found = same_structure(100, 20, 1)
    [told] = found.publications
    heights = {property_: value for _, property_, value in told if isinstance(value, int)}
    assert len({pattern.edges for pattern in found.subscriptions}) == 1
    matched = 0
    for pattern in found.subscriptions:
        properties = {end: property_ for _, property_, end in pattern.edges}
        holds = [heights[properties[one.variable]] > int(one.operand) for one in pattern.limits]
        assert len(set(holds)) == 1, "all limits fail, or none"
        matched += holds[0]
    assert matched == 20
