"""`dens sweep`: runs variants of a scenario with many seeds, on all cores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AllowCode, AsJson, SparkMaster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spark_analysis.sweep.results import Timing


def sweep(
    file: Annotated[
        Path, typer.Argument(metavar="SWEEP.toml", help="Scenario, parameters to vary, and seeds.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Folder of the sweep; sweeps/NAME by default.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j",
            "--jobs",
            min=1,
            metavar="N",
            help="Use N processes instead of Spark; faster for small sweeps.",
            show_default=False,
        ),
    ] = None,
    master: SparkMaster = None,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
) -> None:
    """Run every variant of a scenario with every seed, and compare.

    An interrupted sweep continues where it stopped. The folder has all runs and results.parquet, one row
    per run. All variants use the same seeds, so that differences are computed per seed.
    """
    from dens.app.runs.sweep import run_plan
    from dens.cli import console
    from dens.cli.runs.tables import sweep_table
    from spark_analysis.number_format import counted
    from spark_analysis.sweep.plan import read_plan

    plan = read_plan(file)
    out = output or Path("sweeps") / file.stem
    seeds = counted(len(plan.seeds), "seed") + (" each" if len(plan.variants) > 1 else "")
    console.say(f"{counted(len(plan.variants), 'variant')} with {seeds}: {counted(plan.runs, 'run')}")
    with _progress() as progress:
        result = run_plan(plan, out, jobs=jobs, master=master, on_progress=progress, allow_code=allow_code)
    if as_json:
        console.print_document({**result.as_document(), "results": str(out / "results.parquet")})
        return
    console.out().print(sweep_table(result))
    typer.echo(timing_line(result.timing))
    typer.echo(f"results: {out / 'results.parquet'}")


def timing_line(timing: "Timing") -> str:
    """Return how long the runs took, or how long the start-up if it was longer than the gain."""
    from spark_analysis.number_format import counted

    kept = f", {timing.resumed} of them from before" if timing.resumed else ""
    if timing.speed_up is None:
        return f"{counted(timing.runs, 'run')}{kept}"
    took = (
        f"{counted(timing.runs, 'run')}{kept}: {timing.computing_s:,.1f} s of computing in "
        f"{timing.elapsed_s:,.1f} s, "
    )
    if timing.speed_up < 1:
        starting_s = timing.elapsed_s - timing.computing_s
        return f"{took}including about {starting_s:,.1f} s of start-up, which matters less in larger sweeps"
    return f"{took}{timing.speed_up:.2f} times as fast as sequentially"


def _progress() -> Any:
    """Return a context manager that yields the progress callback of a sweep."""
    from contextlib import contextmanager

    from dens.cli import console

    @contextmanager
    def lines() -> "Iterator[Callable[[int, int], None]]":
        tenths = -1

        def say(done: int, runs: int) -> None:
            nonlocal tenths
            if done * 10 // runs > tenths:
                tenths = done * 10 // runs
                console.say(f"{done} of {runs} runs")

        yield say

    @contextmanager
    def live() -> "Iterator[Callable[[int, int], None]]":
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("running"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console.err(), transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda done, runs: bar.update(task, completed=done, total=runs)

    return live() if console.err().is_terminal else lines()
