"""The drop order, one rule at a time, and the bounds under random use."""

from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.limits import Limits
from dens.overlay.storage.notification_store import NotificationStore
from dens.overlay.wire.codes import MessageType, Reason
from dens.overlay.wire.item import ENVELOPE_BYTES, Item, ItemId, item_id
from dens.overlay.wire.messages import Satisfied


def item(number: int, origin: int = 1, created_ms: int = 0, size: int = 20, lifetime_q: int = 100) -> Item:
    return Item(
        MessageType.NOTIFICATION, 1, origin, number, created_ms, lifetime_q, 0, bytes(size - ENVELOPE_BYTES)
    )


def roomy(items: int, share_percent: int = 100) -> NotificationStore:
    return NotificationStore(
        Limits(notification_items=items, notification_bytes=1_000, origin_share_percent=share_percent)
    )


def test_the_lowest_degree_goes_first_and_the_oldest_among_equals() -> None:
    store = roomy(2)
    for number, degree in ((1, 200), (2, 50), (3, 50), (4, 0)):
        carried = store.add(item(number, created_ms=-number))
        if degree:
            store.add_pending(carried, 9, [Satisfied(0, 0, degree)])
    assert [(victim.number, reason) for victim, reason in store.make_room(0)] == [
        (4, Reason.LOWEST_DEGREE),
        (3, Reason.LOWEST_DEGREE),
    ]


def test_fully_delivered_items_are_dropped_before_pending_ones() -> None:
    store = roomy(2)
    for number in (1, 2, 3):
        store.add_pending(store.add(item(number)), 9, [Satisfied(0, 0, 255 - number)])
    assert store.delivered(item_id(1, 1), 9)
    assert not store.delivered(item_id(1, 1), 9)
    assert [(victim.number, reason) for victim, reason in store.make_room(0)] == [(1, Reason.DELIVERED)]
    assert store.pending_for(9) == [item_id(1, 2), item_id(1, 3)]


def test_item_pending_again_is_not_finished() -> None:
    store = roomy(1)
    first = store.add(item(1))
    store.add_pending(first, 9, [Satisfied(0, 0, 10)])
    store.delivered(item_id(1, 1), 9)
    store.add_pending(first, 8, [Satisfied(0, 0, 200)])
    store.add_pending(store.add(item(2)), 9, [Satisfied(0, 0, 100)])
    assert [(victim.number, reason) for victim, reason in store.make_room(0)] == [(2, Reason.LOWEST_DEGREE)]


def test_an_origin_above_its_share_pays_with_its_oldest() -> None:
    store = roomy(4, share_percent=5)
    for number, origin in ((1, 7), (2, 7), (3, 7), (4, 8), (5, 8)):
        carried = store.add(item(number, origin))
        if origin == 7:
            store.add_pending(carried, 9, [Satisfied(0, 0, 255)])
    assert [(victim.number, reason) for victim, reason in store.make_room(0)] == [(1, Reason.OVER_QUOTA)]


def test_withdrawn_subscription_has_no_pending_deliveries() -> None:
    store = roomy(9)
    carried = store.add(item(1))
    store.add_pending(carried, 9, [Satisfied(0, 0, 10)])
    store.add_pending(carried, 9, [Satisfied(1, 0, 20)])
    store.drop_subscription(9, 0)
    assert carried.pending == {9: {1: Satisfied(1, 0, 20)}}
    store.drop_refused(item_id(1, 1), 9, [Satisfied(1, 5, 0)])
    assert store.pending_for(9) == [item_id(1, 1)]
    store.drop_refused(item_id(1, 1), 9, [Satisfied(1, 0, 0)])
    assert (store.pending_for(9), carried.pending) == ([], {})


@given(
    st.lists(
        st.tuples(st.sampled_from("aodrx"), st.integers(0, 12), st.integers(0, 3), st.integers(1, 255)),
        max_size=80,
    )
)
def test_bounds_and_books_hold_whatever_happens(steps: list[tuple[str, int, int, int]]) -> None:
    limits = Limits(notification_items=5, notification_bytes=150, origin_share_percent=40)
    store = NotificationStore(limits)
    held: dict[ItemId, Item] = {}
    for what, number, origin, degree in steps:
        this = item_id(origin, number)
        if what == "a" and this not in held:
            held[this] = item(number, origin, created_ms=degree, size=ENVELOPE_BYTES + degree % 40)
            store.add(held[this])
            for victim, _ in store.make_room(0):
                assert held.pop(victim.id) == victim
        elif what == "o" and this in held:
            carried = store.get(this)
            assert carried is not None
            store.add_pending(carried, 100 + degree % 3, [Satisfied(0, 0, degree)])
        elif what == "d":
            store.delivered(this, 100 + degree % 3)
        elif what == "r":
            store.drop_subscription(100 + degree % 3, 0)
        elif what == "x":
            assert store.remove(this) == held.pop(this, None)
        assert {carried.item.id for carried in store.all()} == held.keys()
        assert store.total_bytes == sum(one.size for one in held.values()) <= 150
        assert len(store) <= 5
        for subscriber in (100, 101, 102):
            owed = {carried.item.id for carried in store.all() if subscriber in carried.pending}
            assert set(store.pending_for(subscriber)) == owed


def test_pending_deliveries_are_indexed_both_ways_until_the_last_release() -> None:
    store = roomy(9)
    both, other = store.add(item(1)), store.add(item(2))
    for carried, subscriber, id in ((both, 8, 0), (both, 9, 0), (both, 9, 1), (other, 9, 1)):
        store.add_pending(carried, subscriber, [Satisfied(id, 0, 10)])
    assert (set(store.pending_subscribers(item_id(1, 1))), set(store.pending_subscribers(item_id(1, 2)))) == (
        {8, 9},
        {9},
    )
    assert set(store.pending_subscribers(item_id(7, 7))) == set()
    store.drop_subscription(9, 1)
    assert (store.pending_for(8), store.pending_for(9)) == ([item_id(1, 1)], [item_id(1, 1)])
    store.drop_subscription(9, 5)
    store.drop_subscription(9, 0)
    assert (store.pending_for(8), store.pending_for(9)) == ([item_id(1, 1)], [])
    assert set(store.pending_subscribers(item_id(1, 1))) == {8}
    store.drop_refused(item_id(7, 7), 8, [(0, 0, 0)])
    store.drop_refused(item_id(1, 1), 9, [(0, 0, 0)])
    assert store.pending_for(8) == [item_id(1, 1)]


def test_another_copies_code_is_carried_from_then_on() -> None:
    store = roomy(1)
    store.add(item(1))
    lighter = item(1).replace(copies=2)
    store.replace(lighter)
    assert [carried.item for carried in store.all()] == [lighter]
    store.add(item(2, created_ms=5))
    assert store.make_room(0) == [(lighter, Reason.LOWEST_DEGREE)]


def test_of_several_above_their_share_the_one_furthest_above_pays_in_bytes_or_in_items() -> None:
    limits = Limits(notification_items=10, notification_bytes=1_000, origin_share_percent=20)
    store = NotificationStore(limits)
    for number in range(4):  # four of ten items
        store.add(item(number, origin=1))
    for number in range(2):  # five hundred of a thousand bytes
        store.add(item(number, origin=2, size=250))
    store.add(item(0, origin=3, size=421))
    victims = [(victim.id, reason) for victim, reason in store.make_room(0)]
    assert victims == [(item_id(2, 0), Reason.OVER_QUOTA)]
    for number in range(4, 8):  # eight of ten items
        store.add(item(number, origin=1))
    store.add(item(1, origin=3))
    victims = [(victim.id, reason) for victim, reason in store.make_room(0)]
    assert victims == [(item_id(1, 0), Reason.OVER_QUOTA)]


def test_who_uses_exactly_its_share_is_not_above_it_and_exactly_full_is_not_too_full() -> None:
    limits = Limits(notification_items=10, notification_bytes=100, origin_share_percent=40)
    store = NotificationStore(limits)
    for number, origin, size in ((1, 1, 20), (2, 1, 20), (1, 2, 20), (1, 3, 40)):
        store.add(item(number, origin, size=size))
    assert store.make_room(0) == []
    store.add(item(1, 4, created_ms=5))
    assert [(victim.id, reason) for victim, reason in store.make_room(0)] == [
        (item_id(1, 1), Reason.LOWEST_DEGREE)
    ]


def test_what_everybody_had_and_is_gone_is_nobodys_victim() -> None:
    store = roomy(1)
    store.add_pending(store.add(item(1)), 9, [Satisfied(0, 0, 10)])
    assert store.delivered(item_id(1, 1), 9)
    assert store.remove(item_id(1, 1)) == item(1)
    for number in (2, 3):
        store.add(item(number, created_ms=number))
    assert [(victim.number, reason) for victim, reason in store.make_room(0)] == [(2, Reason.LOWEST_DEGREE)]


def test_expired_victim_is_reported_as_expired() -> None:
    for now_ms, reason in ((999, Reason.LOWEST_DEGREE), (1_000, Reason.LIFETIME_OVER)):
        store = roomy(1)
        store.add(item(1, lifetime_q=0))
        store.add(item(2, created_ms=5))
        assert [(victim.number, why) for victim, why in store.make_room(now_ms)] == [(1, reason)]


def test_the_drop_order_holds_also_after_very_many_subscriptions_were_found() -> None:
    """The order is kept in a heap that is made again when most of it is stale."""
    store = roomy(2)
    low, high = store.add(item(1)), store.add(item(2))
    for degree in range(1, 200):
        store.add_pending(high, degree, [Satisfied(0, 0, degree)])
        store.add_pending(low, degree, [Satisfied(0, 0, (degree + 1) // 2)])
        assert store.make_room(0) == []
    for number, victim in ((3, 3), (4, 4)):
        store.add(item(number))
        assert [one.number for one, _ in store.make_room(0)] == [victim]
    store.add_pending(store.add(item(5)), 9, [Satisfied(0, 0, 150)])
    assert [one.number for one, _ in store.make_room(0)] == [1]
