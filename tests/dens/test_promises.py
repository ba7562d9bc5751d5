"""What SPEC §8 promises, checked after every step of many small random worlds (see world.py)."""

import pytest

from dens.limits import Limits
from tests.dens.world import Faults, Plan, World

QUICK = Limits(hello_ms=300, retry_ms=150, retry_most_ms=600)
ROUGH = Faults(loss=0.3, repeat=0.2, slow=0.2, corrupt=0.02, crash=0.02)


def healed(world: World) -> World:
    """Run the world, then stop the faults, connect everybody and demand that everything owed arrives."""
    world.live_through()
    world.heal(8_000)
    assert world.owed_and_missing(world.now_ms) == []
    return world


@pytest.mark.parametrize("first_seed", range(0, 100, 10))
def test_everything_goes_wrong(first_seed: int) -> None:
    delivered = crashes = 0
    for seed in range(first_seed, first_seed + 10):
        world = healed(World(seed, Plan(faults=ROUGH, limits=QUICK)))
        delivered += len(world.delivered)
        crashes += world.crashes
    assert delivered > 50
    assert crashes > 100


def test_every_second_datagram_is_lost() -> None:
    delivered = 0
    half = Faults(loss=0.5)
    for seed in range(100, 110):
        world = World(seed, Plan(faults=half, limits=QUICK, duration_ms=20_000, mediators=2))
        world.live_through()
        world.heal(30_000, half)
        assert world.owed_and_missing(world.now_ms) == []
        delivered += len(world.delivered)
    assert delivered > 10


@pytest.mark.parametrize("seed", range(200, 220))
def test_full_buffers_drop_by_rule_and_stay_bounded(seed: int) -> None:
    tight = Limits(
        hello_ms=300,
        retry_ms=150,
        retry_most_ms=600,
        notification_items=4,
        notification_bytes=64,
        subscriptions=3,
        receipts=3,
        known_items=1_000,
    )
    world = World(seed, Plan(faults=ROUGH, limits=tight, operation_every_ms=400))
    world.live_through()
    assert sum(len(gone) for gone in world.gone.values()) > 10


@pytest.mark.parametrize("seed", range(300, 310))
def test_a_mission_without_a_key_keeps_its_promises(seed: int) -> None:
    faults = Faults(loss=0.3, repeat=0.2, slow=0.2, crash=0.02)
    assert healed(World(seed, Plan(faults=faults, limits=QUICK, mission_key=None))).frames


@pytest.mark.parametrize("first_seed", [500, 510])
def test_lifetimes_shorter_than_delays_bring_nothing_twice(first_seed: int) -> None:
    faults = Faults(loss=0.2, repeat=0.5, slow=0.4, crash=0.01)
    plan = Plan(faults=faults, limits=QUICK, notification_q=(0, 30), subscription_q=(20, 60))
    delivered = 0
    for seed in range(first_seed, first_seed + 10):
        world = World(seed, plan)
        world.live_through()
        delivered += len(world.delivered)
    assert delivered > 5


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = (World(seed, Plan(faults=ROUGH, limits=QUICK)) for seed in (5, 5, 6))
    for world in (first, second, other):
        world.live_through()
    assert first.frames == second.frames
    assert first.frames != other.frames
