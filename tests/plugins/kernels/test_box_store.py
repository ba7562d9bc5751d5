"""What only the store of `blocks` promises: runs that merge, a delta that refuses, names that change."""

from random import Random

import numpy as np
import pytest

from plugins.kernels.boxes.box_store import BoxStore, Overloaded
from plugins.kernels.boxes.tiles import tile_order
from tests.plugins.boxes.box_populations import BoxMaker, Brute, per_point


def test_more_at_once_than_there_is_ever_room_for_are_refused_with_what_helps() -> None:
    maker = BoxMaker(Random(1), 3)
    store = BoxStore(3, seal_from=200)
    boxes = maker.arrays({box: maker.box() for box in range(401)})
    with pytest.raises(Overloaded, match="401 boxes at once are more than 400; load them, or add fewer"):
        store.add(*boxes)
    assert len(store) == 0
    store.load(*boxes)
    assert len(store) == 401


def test_too_many_between_two_maintains_are_refused_and_nothing_is_wrong() -> None:
    maker, brute = BoxMaker(Random(1), 3), Brute()
    store = BoxStore(3, seal_from=200)
    for begin in (0, 150, 300):
        boxes = {box: maker.box() for box in range(begin, begin + 150)}
        if begin == 300:
            with pytest.raises(Overloaded, match="call maintain"):
                store.add(*maker.arrays(boxes))
        else:
            store.add(*maker.arrays(boxes))
            brute.held.update(boxes)
    points, present = maker.points(8)
    assert per_point(store.search(points, present)) == brute.found(points, present)
    while store.maintain(1000):
        pass
    store.add(*maker.arrays(boxes))
    brute.held.update(boxes)
    assert per_point(store.search(points, present)) == brute.found(points, present)


def test_a_box_keeps_its_new_name_through_every_step_of_a_rebuild() -> None:
    maker, brute = BoxMaker(Random(2), 2, values=9), Brute()
    store = BoxStore(2, seal_from=100, compile_from=0)
    free = 10_000
    for begin in range(0, 1200, 60):
        boxes = {box: maker.box() for box in range(begin, begin + 60)}
        store.add(*maker.arrays(boxes))
        brute.held.update(boxes)
        for _ in range(6):
            old = maker.chance.choice(list(brute.held))
            store.rename(old, free)
            brute.held[free] = brute.held.pop(old)
            free += 1
            store.maintain(1)
            points, present = maker.points(2)
            assert per_point(store.search(points, present)) == brute.found(points, present)
    store.remove(np.array(list(brute.held), np.uint32))
    assert len(store) == 0


def test_runs_stay_few() -> None:
    maker = BoxMaker(Random(3), 3)
    store = BoxStore(3, seal_from=64)
    for begin in range(0, 64 * 40, 64):
        store.add(*maker.arrays({box: maker.box() for box in range(begin, begin + 64)}))
        while store.maintain(10_000):
            pass
    assert len(store._searched) <= 8


@pytest.mark.parametrize("halving", [True, False])
@pytest.mark.parametrize("boxes", [1, 100, 40_000])
def test_tile_order_is_an_order(boxes: int, halving: bool) -> None:
    sides = np.sort(np.random.default_rng(4).integers(0, 256, (2, boxes, 3)), axis=0).astype(np.uint8)
    flat = np.concatenate([sides[0], sides[1]], axis=1)
    order = np.arange(boxes)
    steps = list(tile_order(flat, order, 64, halving=halving))
    assert sorted(order.tolist()) == list(range(boxes))
    assert max(steps) <= 65_536
    spread = np.array(
        [np.ptp(flat[order[at : at + 64]].astype(int), axis=0).sum() for at in range(0, boxes, 64)]
    )
    unsorted = np.array([np.ptp(flat[at : at + 64].astype(int), axis=0).sum() for at in range(0, boxes, 64)])
    assert boxes <= 64 or spread.mean() < 0.9 * unsorted.mean()
