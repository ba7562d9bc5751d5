"""Contacts of many nodes: what they cost, and how that grows.

An hour at the density of `one_c`, walks included. The curve is drawn to .build/contacts_growth.svg; the copy
in docs/ shows one such run. A recorded trace is replayed with ideal links beside a goal in CPU seconds.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.measurement import Measurement, at_most
from benchmarks.sizes import sized
from emulation.contacts.detection import find_contacts
from emulation.contacts.formats.registry import read_contacts
from emulation.mobility.model import Area
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.random.rng import RandomStreams
from emulation.replay.flood import replay
from emulation.replay.messages import read_messages

ROOT: Final = Path(__file__).parents[2]
NODES: Final = sized((1_000, 2_000, 3_000, 5_000, 7_000, 10_000), (50, 100))
RECORDED: Final = ROOT / "tests" / "emulation" / "replay" / "the_one" / "a_u1"


def measure() -> Iterator[Measurement]:
    """Measure contacts from 1,000 to 10,000 nodes, and a replay."""
    _contacts(200)  # what is compiled on first use is compiled here
    costs = {nodes: _contacts(nodes) for nodes in NODES}
    yield at_most("contacts_of_10000_nodes_cpu_seconds_against_3", costs[max(NODES)], 3.0, 1.0)
    yield at_most(
        "contacts_of_10000_nodes_against_ten_times_1000",
        costs[max(NODES)],
        max(NODES) / min(NODES) * costs[min(NODES)],
        1.5,
    )
    _draw(costs, ROOT / ".build" / "contacts_growth.svg")
    begin = time.process_time()
    meetings = read_contacts(RECORDED / "ConnectivityONEReport.txt.gz")
    replay(meetings, read_messages(RECORDED / "CreatedMessagesReport.txt.gz"))
    yield at_most("replay_of_a_u1_cpu_seconds_against_1", time.process_time() - begin, 1.0, 1.0)


def _contacts(nodes: int) -> float:
    """Return the CPU seconds of one hour's contacts at the density of `one_c`, walks included."""
    side = (nodes / 1_000) ** 0.5
    area, duration_ms = Area(4500.0 * side, 3400.0 * side), 3_600_000.0
    streams = RandomStreams(1)
    own = [streams.rng("mobility", "hosts", node) for node in range(nodes)]
    begin = time.process_time()
    model = RandomWaypoint((0.5, 1.5), (0.0, 120.0))
    walks = model.walks(area, duration_ms, own, streams.rng("mobility", "hosts"))
    find_contacts(walks, [50.0] * nodes, duration_ms)
    return time.process_time() - begin


def _draw(costs: dict[int, float], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(list(costs), list(costs.values()), marker="o", label="measured")
    linear = [costs[NODES[0]] * nodes / NODES[0] for nodes in costs]
    axes.plot(list(costs), linear, linestyle=":", label="if it were linear")
    axes.set(xlabel="nodes", ylabel="CPU seconds for an hour", xlim=(0, None), ylim=(0, None))
    axes.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
