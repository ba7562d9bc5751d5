"""Who talks beyond range, against a slow definition; all mediators of a partition are connected."""

from hypothesis import given, settings
from hypothesis import strategies as st

from emulation.forwarding.overlay_contacts import OverlayContacts
from emulation.forwarding.topology import KnownTopology
from tests.emulation.forwarding import slow_routes
from tests.sizes import examples

DEVICES = 9
PAIRS = [(a, b) for a in range(DEVICES) for b in range(a + 1, DEVICES)]
roles = st.lists(st.sampled_from("medf"), min_size=DEVICES, max_size=DEVICES)
"""A mediator, an end (twice), or one that only forwards."""
toggles = st.lists(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=3), min_size=1, max_size=14)


@given(roles, toggles, st.sampled_from([2, 3, 255]))
@settings(max_examples=examples(200), deadline=None)
def test_contacts_are_those_of_the_definition_after_every_change(
    roles: list[str], changed: list[list[tuple[int, int]]], hop_limit: int
) -> None:
    mediators = [one for one, role in enumerate(roles) if role == "m"]
    ends = [one for one, role in enumerate(roles) if role in "ed"]
    known = KnownTopology(DEVICES)
    contacts = OverlayContacts(known, mediators, ends, hop_limit)
    links: set[tuple[int, int]] = set()
    present: dict[tuple[int, int], int] = {}
    choices: dict[int, int | None] = dict.fromkeys(ends)
    for several in changed:
        for link in several:
            links ^= {link}
            known.change(*link, link in links)
            contacts.link_changed(*link)
        over, now = contacts.changes()
        assert set(over) <= set(present)
        assert all(present.get(pair) != hops for pair, hops in now.items()), "only changes are reported"
        present = {pair: hops for pair, hops in present.items() if pair not in over} | now

        hops = slow_routes.distances(DEVICES, links)
        expected = slow_routes.mediators_contacts(DEVICES, links, mediators, hop_limit)
        for end in ends:
            choice = slow_routes.ends_mediator(DEVICES, links, mediators, end, choices[end], hop_limit)
            choices[end] = choice
            if choice is not None:
                expected[min(end, choice), max(end, choice)] = hops[end][choice]
        assert present == expected, links


@given(roles, st.sets(st.sampled_from(PAIRS)))
@settings(max_examples=examples(200), deadline=None)
def test_whoever_shares_a_partition_with_a_mediator_reaches_all_of_its_mediators(
    roles: list[str], links: set[tuple[int, int]]
) -> None:
    """By contacts in range and beyond, over mediators alone."""
    mediators = [one for one, role in enumerate(roles) if role == "m"]
    ends = [one for one, role in enumerate(roles) if role in "ed"]
    known = KnownTopology(DEVICES)
    for link in links:
        known.change(*link, True)
    contacts = OverlayContacts(known, mediators, ends, 255)
    pairs = {*contacts.changes()[1], *links}
    hops = slow_routes.distances(DEVICES, links)
    among = [pair for pair in pairs if set(pair) <= set(mediators)]
    for one in range(DEVICES):
        partition = [other for other in mediators if hops[one][other] < slow_routes.FAR]
        assert slow_routes.is_connected(partition, among)
        if one in ends and partition:
            assert any(one in pair and set(pair) & set(mediators) for pair in pairs)


def test_an_end_changes_for_two_hops_only() -> None:
    """A line 0 - 1 - 2 - 3 - 4 with an end in front; mediators at 3 and 4, then nearer ones come up."""
    known = KnownTopology(7)
    contacts = OverlayContacts(known, [3, 5, 6], [0], 16)

    def link(a: int, b: int, is_up: bool = True) -> dict[tuple[int, int], int]:
        known.change(a, b, is_up)
        contacts.link_changed(a, b)
        over, now = contacts.changes()
        return dict.fromkeys(over, 0) | now

    for a, b in ((0, 1), (1, 2)):
        assert link(a, b) == {}
    assert link(2, 3) == {(0, 3): 3}
    assert link(1, 5) == {(3, 5): 3}, "5 is one hop nearer, which is not worth it; the mediators talk"
    assert link(2, 3, False) == {(0, 3): 0, (3, 5): 0, (0, 5): 2}, "out of reach"
    assert link(0, 6) == {(0, 5): 0, (5, 6): 3}, "in range no relay is needed"
