"""Worlds that a drawn plan has rarely: what docs/reference/protocols.md promises at the edges."""

from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.item import LIFETIME_MS
from emulation.fault_injection.plan import FAULT_POINTS, QUICK, Faults, Plan
from emulation.fault_injection.topics import LANGUAGE, subscription
from emulation.fault_injection.world import World

ROUGH = Faults(loss=0.3, repeat=0.2, slow=0.2, corrupt=0.02, replay=0.05, crash=0.02)


def healed(world: World) -> World:
    """Run the world, then stop the faults, connect all nodes and check that all deliveries arrive."""
    world.live_through()
    world.heal()
    world.checker.conclude()
    return world


def test_every_second_datagram_is_lost_for_good() -> None:
    delivered = 0
    half = Faults(loss=0.5)
    for seed in range(100, 105):
        world = World(seed, Plan(faults=half, limits=QUICK, duration_ms=20_000, mediators=2))
        world.live_through()
        world.heal(30_000, half)
        world.checker.conclude()
        delivered += len(world.delivered)
    assert delivered > 5


def test_crashes_come_at_every_fault_point() -> None:
    world = healed(World(1, Plan(faults=ROUGH, limits=QUICK)))
    assert world.crashed_at.keys() == set(FAULT_POINTS)
    assert all(world.crashed_at.values())
    assert sum(world.crashed_at.values()) == world.crashes


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = (World(seed, Plan(faults=ROUGH, limits=QUICK)) for seed in (5, 5, 6))
    for world in (first, second, other):
        world.live_through()
    assert first.frames == second.frames
    assert first.frames != other.frames


def test_a_subscription_is_renewed_after_the_clock_was_set_back() -> None:
    subscriber = SubscriberEndpoint(1, Mission(7), MemoryStore(), 5_000)
    subscriber.subscribe(subscription(3, 0, 60, topic=1, least=0), LANGUAGE, 5_000)
    subscriber.renew(3, 90, 4_000)
    [current] = subscriber.in_force
    assert (current.since_ms, current.until_ms) == (4_000, 4_000 + LIFETIME_MS[90])
