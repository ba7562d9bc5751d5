"""BatchSearch: order changes when something is found, never what; and what it costs is what is counted."""

from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.boxes import batch_search
from plugins.boxes.batch_search import BatchSearch
from plugins.boxes.blocks import BlocksIndex
from plugins.boxes.index import LevelledIndex
from plugins.boxes.indexes import INDEXES
from plugins.boxes.levels import POLICIES, Fixed, LevelPolicy, Replay, RoundRobin
from plugins.boxes.matcher import BoxMatcher
from plugins.boxes.profile import Profile, replayed
from plugins.boxes.rtree import RTreeIndex
from plugins.boxes.vectors import BoxesBody, encode_body
from plugins.language import Match
from tests.plugins.boxes.box_populations import BoxMaker, Brute, per_point, step

TABLE = load_mission_table(["weather"])
LEVELLED: dict[str, Callable[..., LevelledIndex]] = {
    "rtree": partial(RTreeIndex, compile_from=0),
    "rtree, plain": partial(RTreeIndex, compile_from=10**9),
    "blocks": partial(BlocksIndex, compile_from=0, seal_from=700),
}
ORDERS: dict[str, Callable[[], LevelPolicy]] = {
    **{f"level {level}": partial(Fixed, level) for level in (1, 2, 3, 4, 9)},
    "round_robin": partial(RoundRobin, rounds=1, threshold=20),
    "replay": Replay,
}


def loaded(form: str, seed: int, boxes: int, cell: str) -> tuple[LevelledIndex, BoxMaker, Brute]:
    maker, brute = BoxMaker(Random(seed), 3, cell, values=40), Brute()
    brute.held = {box: maker.box() for box in range(boxes)}
    index = LEVELLED[form](3, cell)
    index.load(*maker.arrays(brute.held))
    return index, maker, brute


@pytest.mark.parametrize("form", LEVELLED)
@given(
    seed=st.integers(0, 2**32),
    boxes=st.sampled_from((0, 5, 200, 2500)),
    events=st.integers(0, 9),
    cell=st.sampled_from(("uint8", "uint16")),
)
@settings(max_examples=12)
def test_every_level_finds_the_same_and_counts_the_same(
    form: str, seed: int, boxes: int, events: int, cell: str
) -> None:
    index, maker, brute = loaded(form, seed, boxes, cell)
    points, present = maker.points(events)
    wanted = brute.found(points, present)
    arrival = BatchSearch(index, points, present, 1)
    assert [at for at, _ in arrival.results()] == list(range(events))
    whole = arrival.profile()
    predicted = replayed(whole)
    units = np.zeros(events, np.int64)
    index.search(points, present, units)
    assert arrival.trace.work == units.tolist()
    for level in range(1, index.height + 1):
        batch = BatchSearch(index, points, present, level)
        found = dict(batch.results())
        trace = batch.trace
        assert [sorted(found[at].tolist()) for at in range(events)] == wanted
        assert sorted(trace.order) == list(range(events))
        assert [trace.workloads[at] for at in trace.order] == sorted(trace.workloads)
        if form.startswith("rtree"):
            assert trace.estimate + sum(trace.work) == units.sum()
        if events > 1:
            assert trace.response == pytest.approx(predicted[level - 1])
            assert same(batch.profile(), whole)
            if level > 1:
                assert trace.workloads == whole.workloads[:, level - 1].tolist()
                assert trace.estimate == whole.spent[:, level - 1].sum()


def same(one: Profile, other: Profile) -> bool:
    pairs = zip((one.workloads, one.spent, one.left), (other.workloads, other.spent, other.left), strict=True)
    return all((a == b).all() for a, b in pairs)


@pytest.mark.parametrize("form", ["rtree", "blocks"])
def test_a_table_that_is_full_stops_one_level_higher(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index, maker, brute = loaded(form, 3, 40_000 if form == "blocks" else 3000, "uint8")
    points, present = maker.points(6)
    monkeypatch.setattr(batch_search, "PLACES_AN_EVENT", 2)
    batch = BatchSearch(index, points, present, index.height)
    assert batch.trace.stopped_higher > 0
    assert batch.trace.level < index.height
    found = dict(batch.results())
    assert [sorted(found[at].tolist()) for at in range(6)] == brute.found(points, present)


@pytest.mark.parametrize("form", LEVELLED)
@given(seed=st.integers(0, 2**32), level=st.integers(1, 5))
@settings(max_examples=8)
def test_the_index_may_change_between_two_results(form: str, seed: int, level: int) -> None:
    index, maker, brute = loaded(form, seed, 900, "uint8")
    points, present = maker.points(8)
    batch = BatchSearch(index, points, present, level)
    for position, ids in batch.results():
        one = slice(position, position + 1)
        assert [sorted(ids.tolist())] == brute.found(points[one], present[one])
        step(index, brute, maker, ids=1000)
    assert per_point(index.search(points, present)) == brute.found(points, present)


@pytest.mark.parametrize("form", LEVELLED)
def test_events_that_are_all_alike_come_in_order_of_arrival(form: str) -> None:
    index, maker, brute = loaded(form, 9, 400, "uint8")
    point, present = maker.points(1)
    points, present = np.repeat(point, 7, axis=0), np.repeat(present, 7)
    for level in range(1, index.height + 1):
        found = list(BatchSearch(index, points, present, level).results())
        assert [position for position, _ in found] == list(range(7))
        assert {tuple(sorted(ids.tolist())) for _, ids in found} == {
            tuple(wanted) for wanted in brute.found(points, present)
        }


def test_seconds_are_those_of_the_clock() -> None:
    index, maker, _ = loaded("rtree", 5, 200, "uint8")
    points, present = maker.points(3)
    ticks = iter((10.0, 10.5, 11.0, 13.0, 16.0))
    batch = BatchSearch(index, points, present, 2, clock=lambda: next(ticks))
    list(batch.results())
    assert batch.trace.estimate_s == 0.5
    assert batch.trace.done_s == [1.0, 3.0, 6.0]
    assert batch.trace.response_s == pytest.approx(10 / 3)
    assert BatchSearch(index, points, present, 2).trace.response_s == 0


def told(chance: Random) -> bytes:
    return bytes(6) + bytes(chance.randrange(256) for _ in range(4)) + bytes([2, 15])


def subscription(chance: Random) -> bytes:
    low = chance.randrange(200)
    boxes = {((0, low, low + chance.randrange(55)), (3, 0, chance.randrange(254))), ((1, low, low + 30),)}
    return encode_body(BoxesBody(0, 1, tuple(boxes)), 1)


def test_every_policy_is_here() -> None:
    assert set(POLICIES) < set(ORDERS)


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("policy", ORDERS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=3)
def test_no_index_level_or_policy_changes_what_is_found(index: str, policy: str, seed: int) -> None:
    chance = Random(seed)
    ordered = BoxMatcher(TABLE, index, policy=ORDERS[policy])
    plain = BoxMatcher(TABLE, "scan")
    held: dict[int, bytes] = {}
    for number in range(chance.choice((0, 20, 300))):
        held[number] = subscription(chance)
        for matcher in (ordered, plain):
            matcher.add((number, 0), held[number])
    for size in (0, 1, 2, 9, 17):
        batch = [(told(chance), 0) for _ in range(size)]
        assert dict(ordered.match_batch(batch, 0)) == dict(plain.match_batch(batch, 0))
    batch = [(told(chance), 0) for _ in range(9)]
    before: dict[int, list[Match]] = dict(plain.match_batch(batch, 0))
    going = ordered.match_batch(batch, 0)
    for position, matches in going:
        assert matches == [match for match in before[position] if match.key[0] in held]
        if held:
            gone = chance.choice(sorted(held))
            ordered.remove((gone, 0))
            ordered.add((5000 + position, 0), held.pop(gone))
    unfinished = ordered.match_batch(batch, 0)
    next(unfinished)
    del unfinished
    assert len(dict(ordered.match_batch(batch, 0))) == 9
