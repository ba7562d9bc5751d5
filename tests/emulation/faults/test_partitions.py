"""Partitions: who is cut off from whom, and what is taken up again."""

from itertools import combinations

from emulation.world.world import World
from tests.emulation.faults.camp import HELPERS, MEDICS, PATIENTS, WriteScenario, camp

FAULTS = """
[[fault]]
kind = "partition"
who = ["patients", "helpers-1"]
at_s = 10
for_s = 30
[[fault]]
kind = "partition"
who = ["medics", "patients"]
at_s = 20
for_s = 40
[[fault]]
kind = "crash"
who = ["helpers-3"]
at_s = 30
for_s = 25
"""


def connected(world: World) -> set[tuple[int, int]]:
    return {(a, b) for a in range(8) for b in world.air.neighbours(a) if a < b}


def within(*sides: tuple[int, ...]) -> set[tuple[int, int]]:
    return {pair for side in sides for pair in combinations(sorted(side), 2)}


def test_partitions_overlap_and_heal_each_for_itself(write_scenario: WriteScenario) -> None:
    first, second, third = HELPERS
    steps = {
        10_000: within((*MEDICS, *HELPERS, *PATIENTS)),
        10_001: within((*MEDICS, second, third), (first, *PATIENTS)),
        20_001: within(MEDICS, (second, third), (first,), PATIENTS),
        30_001: within(MEDICS, PATIENTS),
        40_001: within((*MEDICS, *PATIENTS), (first, second)),
        55_001: within((*MEDICS, *PATIENTS), HELPERS),
        60_001: within((*MEDICS, *HELPERS, *PATIENTS)),
    }
    with camp(write_scenario, FAULTS) as world:
        for at_ms, wanted in steps.items():
            world.clock.run_until(at_ms)
            assert connected(world) == wanted, at_ms
