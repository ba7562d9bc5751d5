"""What a MANET below the overlay costs, and what it gains: `rescue` and `valley` with frames that are
forwarded, beside themselves with none.

CPU seconds of whole runs, in turns, the least of three: a machine that others use only ever adds. Beside them
what each delivers, which no machine changes.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measurement import Measurement, at_least, at_most, beside
from benchmarks.sizes import sized
from emulation.run import RunSummary, run_scenario
from emulation.scenario import load_scenario

TURNS = sized(3, 1)
SHORTER: tuple[str, ...] = sized((), ("duration_s=14400",))
ON_THE_SAME_CONTACTS = "group.bearers.mobility.called=never"


def measure() -> Iterator[Measurement]:
    """Run both scenarios both ways."""
    seconds: dict[str, list[float]] = {"none": [], "shortest_path": []}
    for _ in range(TURNS):
        for forwarding, taken in seconds.items():
            taken.append(_run("rescue", forwarding)[1])
    yield at_most(
        "emulation_rescue_shortest_path_cpu_seconds_against_none",
        min(seconds["shortest_path"]),
        min(seconds["none"]),
        1.5,
    )
    alone, routed = (_run("rescue", forwarding, ON_THE_SAME_CONTACTS)[0] for forwarding in seconds)
    yield at_least(
        "emulation_rescue_deliveries_with_shortest_path_on_the_same_contacts",
        routed.delivered,
        alone.delivered,
        1.0,
    )
    yield beside("emulation_rescue_frames_with_shortest_path", routed.frames_sent, alone.frames_sent)
    alone, routed = (_run("valley", forwarding)[0] for forwarding in seconds)
    yield at_least(
        "emulation_valley_share_delivered_with_shortest_path", routed.delivered, routed.notifications, 0.95
    )
    yield beside("emulation_valley_share_delivered_with_none", alone.delivered, alone.notifications)


def _run(name: str, forwarding: str, *changes: str) -> tuple[RunSummary, float]:
    scenario = load_scenario(
        name, [f"network.forwarding={forwarding}", *changes, *(SHORTER if name == "rescue" else ())]
    )
    with TemporaryDirectory() as place:
        begin = time.process_time()
        summary = run_scenario(scenario, scenario.seed, Path(place) / "run")
        return summary, time.process_time() - begin
