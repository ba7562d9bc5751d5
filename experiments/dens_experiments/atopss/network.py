"""Ours: what reverse paths and carrying deliver, and what they cost, from a connected network to a sparse
one.

One world, three ways: a flood over brokers, brokers that forward along the paths of subscriptions, and
DENS nodes that carry. Devices walk in a square; the range of their radios decides how much of the network is
in pieces.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

import emulation
from dens.trace.recorded_run import RecordedRun, recorded_run
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from spark_analysis.catalogue.recorded import evidence_of
from spark_analysis.languages import languages_of
from spark_analysis.metrics.expected import subscription_revisions
from spark_analysis.metrics.reading_search import ReadingSearch

RANGES_M: Final = (450, 300, 200, 140, 100)
WAYS: Final = ("flood", "broker", "carry")
SEEDS: Final = (1, 2, 3)
SMALL_SEEDS: Final = (1,)
SMALL_RANGES_M: Final = (450, 200, 100)
DURATION_S: Final = 1800
LAST_READING_S: Final = 1200
"""Afterwards nothing is published: messages under way may arrive."""
WANTED: Final = ("cheap", "family", "near_and_new")
TAKES: Final = frozenset({"seeds"})

_SCENARIO: Final = f"""
name = "network"
title = "Flats for rent where people walk"
duration_s = {DURATION_S}
seed = 1
vocabularies = ["housing"]
area = {{ width_m = 1000, height_m = 1000 }}

[overlay]
routing = "carry"

[radio.device]
range_m = 300
rate_bytes_per_s = 25000
setup_ms = 100

[[group]]
name = "mediators"
role = "mediator"
count = 14
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [1, 2], pause_s = [0, 60] }}

[[group]]
name = "owners"
role = "publisher"
count = 4
radio = "device"
mobility = {{ model = "static" }}

[[group]]
name = "people"
role = "subscriber"
count = 6
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [1, 2], pause_s = [0, 60] }}

[[sensor]]
group = "owners"
event = "apartment"
at_s = 300
every_s = 60
source = {{ generator = "uniform" }}
error = {{ age = {{ interval = 5 }}, rent = {{ triangular = 100 }} }}
""" + "".join(f'\n[[subscription]]\ngroup = "people"\nfile = "{name}.xml"\n' for name in WANTED)


@dataclass(frozen=True, slots=True)
class Arrived:
    """Expected and actual deliveries of readings to persons, and traffic on the air."""

    wanted: int
    delivered: int
    frames: int


def network(request: Request, tell: Tell) -> Panel:
    """Run the scenario for every range, seed and way."""
    seeds = request.seeds or (SMALL_SEEDS if request.small else SEEDS)
    ranges = SMALL_RANGES_M if request.small else RANGES_M
    lines: dict[str, Line] = {}
    with tempfile.TemporaryDirectory(prefix="dens-network-") as folder:
        scenario = _written(Path(folder))
        for way in WAYS:
            taken = []
            for range_m in ranges:
                samples = []
                for seed in seeds:
                    tell(f"{way}, {range_m} m, seed {seed}")
                    found = arrived(scenario, way, range_m, seed)
                    share = 100 * found.delivered / max(found.wanted, 1)
                    each = found.frames / max(found.delivered, 1)
                    work = {"frames": float(found.frames), "frames a delivery": each}
                    samples.append(Sample(share, work))
                taken.append(samples)
            lines[way] = line_of(taken)
    first, last = ({way: line.means[at] for way, line in lines.items()} for at in (0, -1))
    frames = {way: line.work["frames"][0] for way, line in lines.items()}
    return Panel(
        "Network: delivered by flood, brokers and carrying",
        "range of radios, m",
        "% of what was wanted",
        ranges,
        lines,
        "(ours; the thesis measures tables and no network)",
        shapes=(
            Shape(
                "where the network is connected brokers deliver what a flood does",
                f"at {ranges[0]} m: flood {first['flood']:.1f} %, brokers {first['broker']:.1f} %",
                verdict(abs(first["flood"] - first["broker"]) <= 1, first["broker"] >= 0.9 * first["flood"]),
            ),
            Shape(
                "and with fewer frames",
                f"flood {frames['flood']:,.0f}, brokers {frames['broker']:,.0f}",
                verdict(frames["broker"] < frames["flood"]),
            ),
            Shape(
                "where it is in pieces carrying delivers most",
                f"at {ranges[-1]} m: " + ", ".join(f"{way} {share:.1f} %" for way, share in last.items()),
                verdict(last["carry"] >= max(last["flood"], last["broker"])),
            ),
        ),
        remarks=(
            "Expected is every reading × every person whose subscription it satisfies as published, whether "
            "or not anybody had heard of it yet. Frames are all that were sent, of every type.",
        ),
        setting={
            "scenario": f"14 mediators, 4 sources and 6 people on 1 km², {DURATION_S} s",
            "seeds": str(len(seeds)),
        },
    )


def _written(folder: Path) -> Path:
    """Write the scenario and its documents."""
    documents = Path(emulation.__file__).parent / "scenarios" / "brokers"
    for name in WANTED:
        shutil.copy(documents / f"{name}.xml", folder)
    path = folder / "network.toml"
    path.write_text(_SCENARIO, "utf-8")
    return path


def arrived(scenario: Path, way: str, range_m: int, seed: int) -> Arrived:
    """Run it once and count."""
    changes = [f'overlay.routing="{way}"', f"radio.device.range_m={range_m}"]
    out = scenario.parent / f"{way}-{range_m}-{seed}"
    run_scenario(load_scenario(str(scenario), changes), seed, out)
    run = recorded_run(out)
    radio = evidence_of(run).radio
    assert radio is not None, "the trace of a run contains what was sent"
    found = Arrived(*_pairs(run), radio.transmissions)
    shutil.rmtree(out)
    return found


def _pairs(run: RecordedRun) -> tuple[int, int]:
    """Count who wanted which reading, and who of them heard of it."""
    revisions = subscription_revisions(run.table("subscriptions").to_pylist())
    search = ReadingSearch(revisions, languages_of(run.manifest))
    readings = run.table("filter_decisions").rename_columns({"at_ms": "event_ms"})
    early = readings.filter(pa.compute.field("event_ms") <= 1000 * LAST_READING_S).combine_chunks()
    numbers = {(row["node"], row["event_number"]) for row in early.to_pylist()}
    wanted = sum(
        int(matches.subscribers.sum()) for batch in early.to_batches() for _, matches in search.matches(batch)
    )
    of_message = {
        (row["origin"], row["number"]): (row["origin"], row["event_number"])
        for row in run.table("notifications").to_pylist()
    }
    seen = {
        (of_message[row["origin"], row["number"]], row["node"])
        for row in run.table("messages", ["kind", "origin", "number", "node"]).to_pylist()
        if row["kind"] == "delivered" and (row["origin"], row["number"]) in of_message
    }
    return wanted, sum(reading in numbers for reading, _ in seen)
