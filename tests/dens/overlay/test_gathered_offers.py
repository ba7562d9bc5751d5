"""Offers reported by several nodes are merged in any order, and bounded."""

from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.session.gathered_offers import GatheredOffers
from dens.overlay.wire.codes import ANNOUNCE
from dens.overlay.wire.item import Item

ANNOUNCEMENTS = st.builds(
    lambda origin, number, created: Item(ANNOUNCE, 0, origin, number, created, 100, 1, bytes(4)),
    st.integers(1, 6),
    st.integers(0, 3),
    st.integers(0, 50),
)
TOLD = st.lists(st.tuples(st.integers(0, 4), ANNOUNCEMENTS), max_size=30)


def answer_of(told: list[tuple[int, Item]], most_bytes: int = 10**6) -> GatheredOffers:
    answer = GatheredOffers(most_bytes)
    for distance, item in told:
        answer.add(distance, item)
    return answer


@given(TOLD, st.randoms(use_true_random=False))
def test_order_and_repetition_make_no_difference(told: list[tuple[int, Item]], chance) -> None:
    again = [*told, *told[: len(told) // 2]]
    chance.shuffle(again)
    assert answer_of(again).offers(60) == answer_of(told).offers(60)


@given(TOLD)
def test_it_is_the_newest_announcement_at_the_shortest_distance(told: list[tuple[int, Item]]) -> None:
    """Compare with a scan of all reported offers."""
    found = {offer.item.origin: offer for offer in answer_of(told).offers(60)}
    assert found.keys() == {item.origin for _, item in told}
    for origin, offer in found.items():
        items = [item for _, item in told if item.origin == origin]
        newest = max(item.number for item in items)
        born = min(item.created_ms for item in items if item.number == newest)
        assert (offer.item.number, offer.item.created_ms) == (newest, born)
        near = [distance for distance, item in told if item.origin == origin and distance]
        assert offer.distance == min(near, default=0)


@given(TOLD, st.integers(0, 200))
def test_beyond_the_bound_the_nearest_and_youngest_are_left(told: list[tuple[int, Item]], most: int) -> None:
    answer = answer_of(told, most)
    kept = answer.offers(60)
    assert sum(3 + offer.item.size for offer in kept) <= most
    whole = len({item.origin for _, item in told})
    assert ("much" in answer.missing()) >= (len(kept) < whole)
    ranks = [(offer.distance or 256, -offer.item.created_ms) for offer in kept]
    assert ranks == sorted(ranks)


def test_expired_offers_are_not_reported() -> None:
    item = Item(ANNOUNCE, 0, 3, 1, 0, 0, 1, b"")
    assert len(answer_of([(1, item)]).offers(999)) == 1
    assert answer_of([(1, item)]).offers(1_000) == ()
