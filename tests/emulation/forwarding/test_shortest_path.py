"""Routes are those of a slow search on the same links, whatever changed before."""

from hypothesis import given, settings
from hypothesis import strategies as st

from emulation.forwarding.shortest_path import SHORTEST_PATH, ShortestPath
from emulation.forwarding.topology import KnownTopology
from tests.emulation.forwarding import slow_routes
from tests.sizes import examples

DEVICES = 7
PAIRS = [(a, b) for a in range(DEVICES) for b in range(a + 1, DEVICES)]
toggles = st.lists(st.sampled_from(PAIRS), min_size=1, max_size=30)


@given(toggles, st.data())
@settings(max_examples=examples(150), deadline=None)
def test_the_next_hop_is_the_lowest_neighbour_that_is_nearer(
    changed: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Links come and go; routes are queried in between, so some are known already when links change."""
    known = KnownTopology(DEVICES)
    router = ShortestPath(known)
    links: set[tuple[int, int]] = set()
    for link in changed:
        links ^= {link}
        known.change(*link, link in links)
        router.link_changed(*link, link in links)
        for destination in data.draw(st.sets(st.integers(0, DEVICES - 1), max_size=3)):
            for node in range(DEVICES):
                expected = slow_routes.next_hop(DEVICES, links, node, destination)
                assert router.next_hop(node, destination) == expected, (links, node, destination)


@given(toggles)
@settings(max_examples=examples(50), deadline=None)
def test_what_is_known_to_be_unchanged_is_not_computed_again(changed: list[tuple[int, int]]) -> None:
    """Distances are forgotten only where one of them changed."""
    known = KnownTopology(DEVICES)
    router = ShortestPath(known)
    links: set[tuple[int, int]] = set()
    before = slow_routes.distances(DEVICES, links)[0]
    router.next_hop(1, 0)
    for link in changed:
        links ^= {link}
        known.change(*link, link in links)
        router.link_changed(*link, link in links)
        after = slow_routes.distances(DEVICES, links)[0]
        assert (0 in router._distances) == (after == before)
        router.next_hop(1, 0)
        before = after


def test_it_is_called_by_its_name() -> None:
    assert SHORTEST_PATH.name == "shortest_path"
    assert SHORTEST_PATH.make is ShortestPath
