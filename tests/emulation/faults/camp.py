"""Everybody in one camp, always in range of each other: whoever cannot talk is kept from it by a fault."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from dens.trace.writer import TraceWriter
from emulation.assembly import assemble_world
from emulation.scenario import load_scenario
from emulation.world.world import World

WriteScenario = Callable[..., Path]
MOVING = (
    'mobility = { model = "random_waypoint", speed_m_per_s = [1.0, 2.0], pause_s = [0, 30] }',
    'mobility = { model = "random_waypoint", speed_m_per_s = [2.0, 4.0] }',
)
STILL = [
    ("range_m = 50", "range_m = 600"),
    *((moving, 'mobility = { model = "static" }') for moving in MOVING),
]
MEDICS, HELPERS, PATIENTS = (0, 1), (2, 3, 4), (5, 6, 7)


@contextmanager
def camp(write: WriteScenario, faults: str, *changes: tuple[str, str]) -> Iterator[World]:
    """Yield the world of a camp with these faults; its trace is in the folder `trace` beside the scenario."""
    path = write(*STILL, *changes)
    path.write_text(path.read_text() + faults)
    with TraceWriter(path.parent / "trace") as trace:
        yield assemble_world(load_scenario(path), 5, trace).world


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table that a camp wrote."""
    return pq.read_table(folder / "trace" / name).to_pylist()
