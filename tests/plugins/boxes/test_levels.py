"""Policies on given curves: they end, at a level no worse than its neighbours, and remember what counts."""

import numpy as np
import pytest

from plugins.boxes.levels import (
    WINDOW,
    Fixed,
    Prices,
    RanBatch,
    Replay,
    RoundRobin,
    exact_size,
    size_class,
)
from plugins.boxes.profile import Profile, expected

CURVE = (1.005, 0.985, 0.925, 0.875, 0.839, 0.984)
CURVES = [
    CURVE,
    (1.0,),
    (1.0, 0.9),
    (0.9, 1.0),
    (1.0,) * 5,
    (1, 0.8, 1, 0.7, 1),
    (1, 1.2, 0.5, 0.4, 0.6),
]


def batch(curve: tuple[float, ...], level: int, events: int = 8) -> RanBatch:
    """Return a batch of events alike, of which every level costs what the curve says."""
    shape, whole = (events, len(curve)), 1000.0
    left = np.full(shape, 2 * whole * curve[0] / (events + 1))
    spent = np.tile((np.array(curve) - curve[0]) * whole / events, (events, 1))
    profile = Profile(np.ones(shape, np.int64), spent, left)
    assert expected(profile, events) == pytest.approx([whole * one for one in curve])
    return RanBatch(events, level, whole * curve[level - 1], profile)


def run(policy: RoundRobin, curve: tuple[float, ...], events: int = 8, most: int = 10_000) -> tuple[int, int]:
    """Return the level at which the policy becomes stable on a curve of costs, and after how many batches."""
    batches = 0
    while not policy.is_stable(events):
        policy.ran(batch(curve, policy.level(events, len(curve)), events))
        batches += 1
        assert batches < most
    return policy.level(events, len(curve)), batches


def test_golden_round_robin() -> None:
    assert run(RoundRobin(start=1), CURVE) == (5, 14 * 64)
    assert run(RoundRobin(start=6), CURVE) == (5, 5 * 64)


@pytest.mark.parametrize("curve", CURVES)
def test_policies_end_at_a_level_no_worse_than_its_neighbours(curve: tuple[float, ...]) -> None:
    for start in range(1, len(curve) + 1):
        level, _ = run(RoundRobin(start=start, rounds=4), curve)
        around = [curve[one - 1] for one in (level - 1, level, level + 1) if 1 <= one <= len(curve)]
        assert curve[level - 1] == min(around)
        replay = Replay(start=start)
        for _ in range(WINDOW):
            replay.ran(batch(curve, replay.level(8, len(curve))))
        chosen = replay.level(8, len(curve))
        assert chosen == (1 if min(curve) > 0.99 * curve[0] else curve.index(min(curve)) + 1)


def test_round_robin_looks_again_after_enough_updates() -> None:
    policy = RoundRobin(start=1, rounds=2)
    run(policy, CURVE)
    policy.updated(1000, 500)
    assert policy.is_stable(8)
    policy.updated(1, 500)
    assert not policy.is_stable(8)
    assert policy.level(1, 6) == 1


def test_round_robin_asks_for_a_fifth_of_what_is_held() -> None:
    policy = RoundRobin(start=5, rounds=1)
    policy.updated(0, 50_000)
    run(policy, CURVE)
    policy.updated(10_000, 60_000)
    assert policy.is_stable(8)
    policy.updated(1, 60_001)
    assert not policy.is_stable(8)


def test_a_state_for_each_class_of_sizes_or_for_each_size() -> None:
    assert [size_class(events) for events in (1, 2, 3, 4, 8, 9, 128)] == [0, 1, 2, 2, 3, 4, 7]
    for classes, shared in ((size_class, True), (exact_size, False)):
        replay = Replay(start=2, classes=classes)
        trial = RoundRobin(start=2, rounds=1, classes=classes)
        replay.ran(batch(CURVE, 2, 8))
        run(trial, CURVE, 8)
        assert replay.level(8, 6) == 5
        assert (replay.level(7, 6) == 5) == shared
        assert trial.is_stable(7) == shared
        assert (replay.level(9, 6), trial.is_stable(9)) == (2, False)


def test_replay_does_not_change_its_mind_for_little() -> None:
    little, much = (1, 0.9, 0.8999), (1, 0.9, 0.8)
    replay = Replay()
    for _ in range(WINDOW):
        replay.ran(batch((1, 0.9, 0.95), 1, 64))
    assert replay.level(64, 3) == 2
    for _ in range(2 * WINDOW):
        replay.ran(batch(little, 2, 64))
    assert replay.level(64, 3) == 2
    for _ in range(WINDOW):
        replay.ran(batch(much, 2, 64))
    assert replay.level(64, 3) == 3


def test_a_reload_and_another_height_clear_what_was_seen() -> None:
    for forget in (Replay.reloaded, lambda replay: replay.ran(batch((1, 1.3, 0.7, 1.2), 2))):
        replay = Replay()
        for _ in range(WINDOW):
            replay.ran(batch((1, 0.5, 1), 2))
        forget(replay)
        replay.ran(batch((1, 1.3, 0.7, 1.2), 2))
        assert replay.level(8, 4) == 3


def test_dear_estimates_are_not_made() -> None:
    dear, cheap = Replay(prices=Prices(kappa=1, phi=500)), Replay(prices=Prices(kappa=1, phi=0))
    for policy in (dear, cheap):
        for _ in range(WINDOW):
            policy.ran(batch(CURVE, 1))
    assert (dear.level(8, 6), cheap.level(8, 6)) == (1, 5)


def test_fixed_is_fixed_as_far_as_there_are_levels() -> None:
    policy = Fixed(4)
    policy.ran(batch(CURVE, 2))
    assert [policy.level(events, height) for events, height in ((8, 6), (8, 3), (1, 6))] == [4, 3, 1]
