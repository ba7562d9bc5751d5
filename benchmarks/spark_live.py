"""Following a run that goes on: from a part of the trace on the disk to the figures that count it.

`rescue` runs in a process of its own while it is followed. Of every micro-batch the oldest part counts: it
waited longest. Spark's first batch loads classes and compiles queries, so it is stated apart.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measurement import Measurement, at_most
from spark_analysis.live import follow
from spark_analysis.live_state import LiveFigures
from spark_analysis.manifest import Manifest
from spark_analysis.session import close_session, open_session

GOAL_S = 5.0
EVERY_S = 0.5
ENOUGH = 12
WINDOW_MS = 1_800_000


class Enough(Exception):
    """So many batches were seen."""


def measure() -> Iterator[Measurement]:
    """Follow a run for some batches and state the wait of the slowest and of the middle one."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        words = [sys.executable, "-m", "studio", "run", "rescue", "--out", str(run)]
        spark = open_session()
        writer = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (run / "manifest.json").is_file():
                time.sleep(0.1)
            waits = _waits(run, spark)
        finally:
            writer.kill()
            writer.wait()
            close_session(spark)
    yield at_most("spark_live_first_batch_s", waits[0], GOAL_S, 3.0)
    yield at_most("spark_live_slowest_batch_s", max(waits[1:]), GOAL_S, 1.0)
    yield at_most("spark_live_median_batch_s", median(waits[1:]), GOAL_S, 1.0)


def _waits(run: Path, spark: "object") -> list[float]:
    waits: list[float] = []

    def tell(figures: LiveFigures, manifest: Manifest) -> None:
        waits.append(time.time() - _oldest_part(run, figures.batches - 1))
        if len(waits) == ENOUGH:
            raise Enough

    try:
        follow(run, spark, tell, window_ms=WINDOW_MS, every_s=EVERY_S)  # type: ignore[arg-type]
    except Exception:
        if len(waits) < ENOUGH:
            raise
    return waits


def _oldest_part(run: Path, batch: int) -> float:
    """Return when the oldest part of a batch was written, from Spark's own notes of what belongs to it."""
    times = []
    for notes in (run / "live" / "checkpoint" / "sources").glob(f"*/{batch}*"):
        for line in notes.read_text().splitlines()[1:]:
            entry = json.loads(line)
            if entry["batchId"] == batch:
                times.append(entry["timestamp"] / 1000)
    return min(times)
