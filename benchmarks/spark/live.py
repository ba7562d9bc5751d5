"""Following a run that goes on: from a part of the trace on the disk to the figures that count it.

`rescue` runs in a process of its own while it is followed. A micro-batch takes from when its oldest part was
there and the batch before it was done until its figures are reported. Spark's first batch loads classes and
compiles queries, so it is stated apart; the parts that wait for it are the second batch. On a machine that
others use, the processor time of a batch says what it would take there alone.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measurement import Measurement, at_most, processor_seconds
from benchmarks.sizes import sized
from dens.trace.manifest import Manifest
from spark_analysis.live.follow import follow
from spark_analysis.live.state import LiveFigures
from spark_analysis.session.session import close_session, open_session

GOAL_S = 5.0
EVERY_S = 0.5
ENOUGH = sized(12, 3)
WINDOW_MS = 1_800_000


class Enough(Exception):
    """So many batches were seen."""


def measure() -> Iterator[Measurement]:
    """Follow a run for some batches and state the slowest and the middle one."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        words = [sys.executable, "-m", "dens.cli", "run", "rescue", "--out", str(run)]
        spark = open_session()
        writer = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (run / "manifest.json").is_file():
                time.sleep(0.1)
            taken, processor_s = _taken(run, spark, writer.pid)
        finally:
            writer.kill()
            writer.wait()
            close_session(spark)
    yield at_most("spark_live_first_batch_s", taken[0], GOAL_S, 3.0)
    yield at_most("spark_live_slowest_batch_s", max(taken[1:]), GOAL_S, 1.0)
    yield at_most("spark_live_median_batch_s", median(taken[1:]), GOAL_S, 1.0)
    yield at_most("spark_live_processor_s_a_batch", processor_s, GOAL_S, 1.0)


def _taken(run: Path, spark: "object", writer: int) -> tuple[list[float], float]:
    """Return the seconds of each batch, and the mean processor time of those after the first."""
    taken: list[float] = []
    used: list[float] = []
    told = [0.0]
    known: set[str] = set()

    def tell(figures: LiveFigures, manifest: Manifest) -> None:
        now = time.time()
        taken.append(now - max(min(_new_parts(run, known)), told[-1]))
        told.append(now)
        used.append(processor_seconds(writer))
        if len(taken) == ENOUGH:
            raise Enough

    try:
        follow(run, spark, tell, window_ms=WINDOW_MS, every_s=EVERY_S)  # type: ignore[arg-type]
    except Exception:
        if len(taken) < ENOUGH:
            raise
    return taken, (used[-1] - used[0]) / (len(used) - 1)


def _new_parts(run: Path, known: set[str]) -> list[float]:
    """Return when the parts that were not known were written, from Spark's own notes, and know them."""
    times = []
    for notes in (run / "live" / "checkpoint" / "sources").glob("*/[0-9]*"):
        for line in notes.read_text().splitlines()[1:]:
            entry = json.loads(line)
            if entry["path"] not in known:
                known.add(entry["path"])
                times.append(entry["timestamp"] / 1000)
    return times
