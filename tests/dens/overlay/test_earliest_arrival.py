"""Invariant 5 on fault-free worlds: the oracles themselves, and that they bind from both sides."""

from math import inf

from dens.overlay.wire.item import NUMBER_BITS
from emulation.fault_injection.oracles import DELTA_MS, LINK_MS, earliest_arrivals
from emulation.fault_injection.plan import draw
from emulation.fault_injection.world import World

CONTACTS = [(1, 10, 0, 100), (10, 11, 50, 60), (2, 11, 55, 58), (1, 2, 0, 100), (2, 11, 200, 300)]


def test_a_path_runs_over_mediators_only() -> None:
    ideal = earliest_arrivals(CONTACTS, {10, 11}, 1, 5, trip_ms=0, delta_ms=0)
    assert ideal == {1: 5, 10: 5, 11: 50, 2: 55}
    trimmed = earliest_arrivals(CONTACTS, {10, 11}, 1, 5, trip_ms=LINK_MS, delta_ms=DELTA_MS)
    assert trimmed == {1: 5, 10: 10}
    assert earliest_arrivals(CONTACTS, {10, 11}, 1, 101, trip_ms=0, delta_ms=0) == {1: 101}


def test_a_wider_gap_is_missed_and_a_later_contact_taken() -> None:
    trimmed = earliest_arrivals(CONTACTS, {10, 11}, 1, 5, trip_ms=0, delta_ms=4)
    assert trimmed == {1: 5, 10: 5, 11: 54, 2: 204}


def test_fault_free_worlds_keep_between_both_oracles() -> None:
    seen = late = 0
    for seed in range(400, 408):
        world = World(seed, draw(seed, ()))
        world.live_through()
        world.heal()
        world.checker.conclude()
        for published in world.applications.published.values():
            ideal = earliest_arrivals(
                world.contact_log,
                world.mediators,
                published.id >> NUMBER_BITS,
                published.event_ms,
                trip_ms=0,
                delta_ms=0,
            )
            for node in world.subscribers:
                seen_ms = world.delivered.get((node, published.id), inf)
                seen += seen_ms < inf
                late += ideal.get(node, inf) < seen_ms < inf
    assert seen > 30
    assert late > 0
