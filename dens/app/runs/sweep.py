"""Runs sweeps: variants of a scenario with many seeds."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_analysis.sweep.plan import SweepPlan
    from spark_analysis.sweep.results import SweepResult


def run_plan(
    plan: "SweepPlan",
    out: Path,
    *,
    jobs: int | None = None,
    master: str | None = None,
    on_progress: Callable[[int, int], None],
    allow_code: bool = False,
) -> "SweepResult":
    """Run a plan in `jobs` processes, or on Spark. An interrupted sweep continues where it stopped."""
    from spark_analysis.sweep.run import check_plan, in_processes, on_spark, run_sweep

    if jobs is not None:
        return run_sweep(plan, out, in_processes(jobs), on_progress, allow_code=allow_code)
    from spark_analysis.session.session import spark_session

    check_plan(plan, out, allow_code=allow_code)  # before Spark starts
    with spark_session(master) as spark:
        return run_sweep(plan, out, on_spark(spark), on_progress, allow_code=allow_code)
