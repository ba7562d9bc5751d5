"""Invariant 5: nobody beats the ideal earliest path, and a fault-free run never misses the trimmed one.

Both oracles are computed from the list of contacts alone, by relaxing contacts until nothing changes; they
know nothing of the engines. A path runs from the publisher over mediators to the subscriber.
"""

from math import inf

import pytest

from dens.limits import Limits
from tests.dens.world import Plan, World

LINK_MS = 2
DELTA_MS = 5 * LINK_MS
"""Hello, summary, subscribe, notify: four trips of a contact whose mediator knew nothing yet, and one to
spare.
"""


def earliest_arrival(
    world: World, source: int, target: int, ready_ms: int, *, trip_ms: int, delta_ms: int
) -> float:
    """Return when something that is ready at the source could be at the target.

    What waits when a contact opens arrives `delta_ms` later, what comes later arrives after one trip, and
    what would arrive at or after the end does not (an ideal link, with no trip, delivers until the end).
    """
    at: dict[int, float] = {source: ready_ms}
    is_changing = True
    while is_changing:
        is_changing = False
        for a, b, begin_ms, end_ms in world.contact_log:
            for node, peer in ((a, b), (b, a)):
                is_step = peer in world.mediators or (peer == target and node in world.mediators)
                if node not in at or not is_step:
                    continue
                arrival = max(at[node] + trip_ms, begin_ms + delta_ms)
                if arrival + trip_ms <= end_ms and arrival < at.get(peer, inf):
                    at[peer] = arrival
                    is_changing = True
    return at.get(target, inf)


@pytest.mark.parametrize("first_seed", range(400, 440, 10))
def test_no_delivery_beats_the_ideal_path_or_misses_the_trimmed_one(first_seed: int) -> None:
    plan = Plan(
        limits=Limits(),
        mediators=5,
        contact_ms=(5, 4_000),
        contact_every_ms=700,
        withdraws=False,
        subscription_q=(100, 101),
        notification_q=(80, 81),
    )
    seen_count = late_count = 0
    for seed in range(first_seed, first_seed + 10):
        world = World(seed, plan)
        for subscriber in world.subscribers:
            for id in range(3):
                world.subscribe(subscriber, id)
        world.live_through()
        for published in world.published.values():
            source, event_ms = published.id[0], published.event_ms
            for subscriber in {
                one.subscriber for one in world.asked if one.is_owed(event_ms, published.vector)
            }:
                seen_ms = world.delivered.get((subscriber, published.id), inf)
                ideal_ms = earliest_arrival(world, source, subscriber, event_ms, trip_ms=0, delta_ms=0)
                trimmed_ms = earliest_arrival(
                    world, source, subscriber, event_ms, trip_ms=LINK_MS, delta_ms=DELTA_MS
                )
                assert seen_ms >= ideal_ms
                assert seen_ms <= trimmed_ms or trimmed_ms > plan.duration_ms
                seen_count += seen_ms < inf
                late_count += ideal_ms < seen_ms
    assert seen_count > 100
    assert late_count > 0
