"""A sweep of forty runs on Spark beside the same sweep in a pool of processes, on the same two cores.

Both are warmed with two runs. Spark's start, five seconds once, is not part of it: a sweep that is worth a
cluster takes longer than that.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measurement import Measurement, at_most
from benchmarks.sizes import sized
from spark_analysis.session.session import close_session, open_session
from spark_analysis.sweep.plan import Setting, SweepPlan
from spark_analysis.sweep.run import Runner, in_processes, on_spark, run_sweep

CORES = 2
SEEDS = sized(20, 2)
GOAL = 1.15


def measure() -> Iterator[Measurement]:
    """Run both ways twice, one after the other; the better time of each counts."""
    spark = open_session(f"local[{CORES}]")
    try:
        with tempfile.TemporaryDirectory() as folder:
            times: dict[str, list[float]] = {"spark": [], "pool": []}
            found = []
            for turn in range(2):
                for name, runner in (("spark", on_spark(spark)), ("pool", in_processes(CORES))):
                    _swept(runner, Path(folder) / f"warm-{name}-{turn}", 1)
                    seconds, variants = _swept(runner, Path(folder) / f"{name}-{turn}", SEEDS)
                    times[name].append(seconds)
                    found.append(variants)
    finally:
        close_session(spark)
    if any(variants != found[0] for variants in found):
        raise AssertionError("the same sweep came to different figures")
    yield at_most("sweep_of_40_runs_on_spark_against_a_pool", min(times["spark"]), min(times["pool"]), GOAL)


def _swept(runner: Runner, out: Path, seeds: int) -> tuple[float, object]:
    """Return seconds by the clock and what the variants came to."""
    hour = Setting("duration_s", 3600)
    variants = tuple((hour, Setting("overlay.policy", policy)) for policy in ("epidemic", "direct"))
    plan = SweepPlan("weather_poles", variants, tuple(range(1, seeds + 1)))
    begin = time.perf_counter()
    result = run_sweep(plan, out, runner)
    return time.perf_counter() - begin, result.variants
