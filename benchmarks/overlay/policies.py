"""Bytes on the air per delivered notification, by replication policy, beside those of flooding everything;
and deliveries beside what the definition of each policy allows.

Small random worlds without faults: the same seeds, hence the same contacts and operations, for every policy.
All bytes count: hellos, summaries, acknowledgements, subscriptions and tags too. These are counts that no
machine changes. A policy that delivers less is not better for it, so deliveries stand beside the bytes.

Scenarios with all roles on every device, with some and with one: ours are the messages that a run delivered,
the peer's those that an oracle delivers on the contacts of that run over ideal links. Neither may be more
than a twentieth away from the other. This is the table of docs/explanation/validation.md.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measurement import Measurement, at_least, at_most
from benchmarks.sizes import sized
from dens.overlay.policies.registry import POLICIES
from emulation.fault_injection.plan import QUICK, Plan
from emulation.fault_injection.world import World
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.policy_oracles import judged
from tests.emulation.policy_scenarios import LAYOUTS, write_plain, write_recorded

SEEDS = sized(range(700, 706), range(700, 701))
NAMES = sized(sorted(POLICIES), ["direct", "epidemic"])
ONE_A_S = sized(7200, 1200)


def measure() -> Iterator[Measurement]:
    """Count bytes and deliveries of every policy."""
    bytes_each: dict[str, float] = {}
    deliveries: dict[str, int] = {}
    for name in NAMES:
        total, deliveries[name] = _lived_through(name)
        bytes_each[name] = total / deliveries[name]
    for name in NAMES:
        yield at_most(
            f"overlay_bytes_per_delivery_{name}_against_epidemic",
            bytes_each[name],
            bytes_each["epidemic"],
            2.0,
        )
    for name in NAMES:
        yield at_least(
            f"overlay_deliveries_{name}_against_epidemic", deliveries[name], deliveries["epidemic"], 0.3
        )
    for scenario in ("one_a", "recorded", *LAYOUTS):
        for name in NAMES:
            ours, theirs = _judged(scenario, name)
            least = f"overlay_deliveries_{name}_in_{scenario}_against_oracle"
            yield at_least(least, ours, theirs, 0.95)
            yield at_most(f"{least}_at_most", ours, theirs, 1.05)


def _judged(scenario: str, name: str) -> tuple[int, int]:
    """Return how many messages a run delivers, and how many its policy would on the same contacts."""
    with TemporaryDirectory() as place:
        folder, changes = Path(place), [f"overlay.policy={name}"]
        path: str | Path = scenario
        if scenario == "one_a":
            changes.append(f"duration_s={ONE_A_S}")
        elif scenario == "recorded":
            path = write_recorded(folder)
        else:
            path = write_plain(folder, name, scenario)
        loaded = load_scenario(path, changes)
        run_scenario(loaded, loaded.seed, folder / "run")
        ours, theirs = judged(folder / "run", name)
    return len(ours), len(theirs)


def _lived_through(name: str) -> tuple[int, int]:
    total = delivered = 0
    for seed in SEEDS:
        plan = Plan(mediators=8, limits=QUICK, policy=name, withdraws=False, operation_every_ms=300)
        world = World(seed, plan)
        world.live_through()
        total += sum(len(data) for _, _, data in world.frames)
        delivered += len(world.delivered)
    return total, delivered
