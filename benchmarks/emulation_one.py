"""The emulator beside The ONE: CPU seconds of the same settings.

The ONE's figures are quoted (its own runs on two shared cores: 89 CPU s for setting a over 12 h with
traffic); the machine at hand differs, so a ratio here says the order of magnitude only. Contacts are measured
against a goal in CPU seconds and against their own growth, which does not depend on the machine.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measurement import Measurement, at_most
from emulation.contacts.detection import find_contacts
from emulation.mobility.model import Area
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from emulation.streams import Streams

THE_ONE_A_12H_CPU_S = 89.0
GOAL_A_12H_CPU_S = 4.0


def measure() -> Iterator[Measurement]:
    """Measure an hour of `one_a` through the real engines, and the contacts of many nodes."""
    ours = _one_a_hour()
    goal = GOAL_A_12H_CPU_S / THE_ONE_A_12H_CPU_S
    yield at_most("one_a_hour_cpu_seconds_against_the_one_quoted", ours, THE_ONE_A_12H_CPU_S / 12, goal)
    small, large = _contacts(1_000), _contacts(10_000)
    yield at_most("contacts_of_10000_nodes_cpu_seconds_against_3", large, 3.0, 1.0)
    yield at_most("contacts_of_10000_nodes_against_ten_times_1000", large, 10 * small, 1.5)


def _one_a_hour() -> float:
    scenario = load_scenario("one_a", ["duration_s=3600"])
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        run_scenario(scenario, 1, Path(folder) / "run")
        return time.process_time() - begin


def _contacts(nodes: int) -> float:
    """Return the CPU seconds of one hour's contacts at the density of `one_c`, walks included."""
    side = (nodes / 1_000) ** 0.5
    area, duration_ms = Area(4500.0 * side, 3400.0 * side), 3_600_000.0
    streams = Streams(1)
    own = [streams.stream("mobility", "hosts", node) for node in range(nodes)]
    begin = time.process_time()
    model = RandomWaypoint((0.5, 1.5), (0.0, 120.0))
    walks = model.walks(area, duration_ms, own, streams.stream("mobility", "hosts"))
    find_contacts(walks, [50.0] * nodes, duration_ms)
    return time.process_time() - begin
