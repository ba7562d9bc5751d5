"""Bytes on the air per delivered notification, by replication policy, beside those of flooding everything.

Small random worlds without faults: the same seeds, hence the same contacts and operations, for every policy.
All bytes count: hellos, summaries, acknowledgements, subscriptions and tags too. These are counts that no
machine changes. A policy that delivers less is not better for it, so deliveries stand beside the bytes.
"""

from collections.abc import Iterator

from benchmarks.measurement import Measurement, at_least, at_most
from dens.policies.registry import POLICIES
from emulation.torture.plan import QUICK, Plan
from emulation.torture.world import World

SEEDS = range(700, 706)


def measure() -> Iterator[Measurement]:
    """Count bytes and deliveries of every policy."""
    bytes_each: dict[str, float] = {}
    deliveries: dict[str, int] = {}
    for name in sorted(POLICIES):
        total, deliveries[name] = _lived_through(name)
        bytes_each[name] = total / deliveries[name]
    for name in sorted(POLICIES):
        yield at_most(
            f"overlay_bytes_per_delivery_{name}_against_epidemic",
            bytes_each[name],
            bytes_each["epidemic"],
            2.0,
        )
    for name in sorted(POLICIES):
        yield at_least(
            f"overlay_deliveries_{name}_against_epidemic", deliveries[name], deliveries["epidemic"], 0.3
        )


def _lived_through(name: str) -> tuple[int, int]:
    total = delivered = 0
    for seed in SEEDS:
        plan = Plan(mediators=8, limits=QUICK, policy=POLICIES[name], withdraws=False, operation_every_ms=300)
        world = World(seed, plan)
        world.live_through()
        total += sum(len(data) for _, _, data in world.frames)
        delivered += len(world.delivered)
    return total, delivered
