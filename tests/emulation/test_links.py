"""Links that last: who is joined with whom, by kind."""

from collections import Counter

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from emulation.contacts.contact import Contacts
from emulation.links import linked
from emulation.scenario.settings.routing import LinkKind, LinksSettings


def links(kind: LinkKind, count: int, ends: int = 0, degree: float | None = None, seed: int = 1) -> Contacts:
    settings = LinksSettings(kind=kind, degree=degree)
    others = list(range(count, count + ends))
    return linked(settings, list(range(count)), others, 9_000.0, np.random.default_rng(seed))


def islands(found: Contacts, count: int) -> int:
    joined = coo_array((np.ones(len(found)), (found.a, found.b)), shape=(count, count))
    return int(connected_components(joined, directed=False)[0])


def degrees(found: Contacts) -> Counter[int]:
    return Counter(found.a.tolist() + found.b.tolist())


@pytest.mark.parametrize("kind", ["tree", "line", "star"])
@pytest.mark.parametrize("count", [1, 2, 7, 31])
def test_without_circles_everybody_is_joined_by_one_link_less(kind: LinkKind, count: int) -> None:
    found = links(kind, count)
    assert len(found) == count - 1
    assert islands(found, count) == 1


def test_a_tree_of_thirty_one_is_full() -> None:
    assert Counter(degrees(links("tree", 31)).values()) == {1: 16, 3: 14, 2: 1}
    assert max(degrees(links("tree", 31, degree=5)).values()) == 6
    assert degrees(links("star", 31))[0] == 30


@pytest.mark.parametrize("count", [1, 2, 3, 9, 30, 31])
def test_grid_is_connected_with_at_most_four_links_per_node(count: int) -> None:
    found = links("grid", count)
    assert islands(found, count) == 1
    assert max(degrees(found).values(), default=0) <= 4
    if count == 9:
        assert len(found) == 12


@pytest.mark.parametrize("degree", [2.0, 3.0, 5.5, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_random_graph_is_joined_and_has_its_degree(degree: float, seed: int) -> None:
    found = links("random", 31, degree=degree, seed=seed)
    assert islands(found, 31) == 1
    assert len(found) == round(31 * degree / 2)
    pairs = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert all(a < b for a, b in pairs)


@pytest.mark.parametrize("degree", [0.1, 1.0, 1.8])
def test_a_random_graph_with_too_few_links_falls_apart(degree: float) -> None:
    found = links("random", 31, degree=degree)
    assert len(found) == round(31 * degree / 2)
    assert islands(found, 31) == 31 - len(found)


def test_ends_are_dealt_out_evenly_and_links_outlast_the_run() -> None:
    found = links("line", 4, ends=10)
    hosts = Counter(a for a, b in zip(found.a.tolist(), found.b.tolist(), strict=True) if b >= 4)
    assert sorted(hosts.values()) == [2, 2, 3, 3]
    assert found.begin_ms.tolist() == [0.0] * 13
    assert found.end_ms.tolist() == [9_000.0] * 13
    assert found.censored.all()
    order = list(zip(found.begin_ms, found.a, found.b, strict=True))
    assert order == sorted(order)


def test_random_links_depend_on_the_seed_only() -> None:
    one, two, other = (links("random", 31, 9, seed=seed) for seed in (3, 3, 4))
    assert (one.a.tolist(), one.b.tolist()) == (two.a.tolist(), two.b.tolist())
    assert (one.a.tolist(), one.b.tolist()) != (other.a.tolist(), other.b.tolist())
