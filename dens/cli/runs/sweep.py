"""`dens sweep`: one scenario in many variants and with many seeds, on every core there is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, SparkMaster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spark_analysis.sweep.results import SweepResult, Timing


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="Scenario, what to vary, and seeds.")],
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
            help="Use so many plain processes instead of Spark: quicker for small sweeps.",
            show_default=False,
        ),
    ] = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Run every variant of a scenario with every seed and put the variants side by side.

    A sweep that was stopped goes on where it was. The folder keeps every run and results.parquet, one row a
    run. All variants get the same seeds, so that differences are taken seed by seed.
    """
    from dens.app.summary import sweep_table
    from dens.cli import console
    from spark_analysis.number_format import counted
    from spark_analysis.sweep.plan import read_plan

    plan = read_plan(file)
    out = output or Path("sweeps") / file.stem
    seeds = counted(len(plan.seeds), "seed") + (" each" if len(plan.variants) > 1 else "")
    console.say(f"{counted(len(plan.variants), 'variant')} with {seeds}: {counted(plan.runs, 'run')}")
    with _progress() as progress:
        result = _run(plan, out, jobs, master, progress)
    if as_json:
        console.print_document({**result.as_document(), "results": str(out / "results.parquet")})
        return
    console.out().print(sweep_table(result))
    typer.echo(timing_line(result.timing))
    typer.echo(f"results: {out / 'results.parquet'}")


def _run(
    plan: Any, out: Path, jobs: int | None, master: str | None, progress: "Callable[[int, int], None]"
) -> "SweepResult":
    from spark_analysis.sweep.run import check_plan, in_processes, on_spark, run_sweep

    if jobs is not None:
        return run_sweep(plan, out, in_processes(jobs), progress)
    from spark_analysis.session.session import spark_session

    check_plan(plan, out)  # what is wrong with it is told before Spark is started
    with spark_session(master) as spark:
        return run_sweep(plan, out, on_spark(spark), progress)


def timing_line(timing: "Timing") -> str:
    """Return how long it took. Where starting took longer than the runs could gain, that is said instead."""
    from spark_analysis.number_format import counted

    kept = f", {timing.resumed} of them kept from before" if timing.resumed else ""
    if timing.speed_up is None:
        return f"{counted(timing.runs, 'run')}{kept}"
    took = (
        f"{counted(timing.runs, 'run')}{kept}: {timing.computing_s:,.1f} s of computing in "
        f"{timing.elapsed_s:,.1f} s, "
    )
    if timing.speed_up < 1:
        starting_s = timing.elapsed_s - timing.computing_s
        return f"{took}start-up of about {starting_s:,.1f} s included, which larger sweeps hardly notice"
    return f"{took}{timing.speed_up:.2f} times as fast as one after the other"


def _progress() -> Any:
    """Return a context that gives a sweep something to tell its progress to."""
    from contextlib import contextmanager

    from dens.cli import console

    @contextmanager
    def lines() -> "Iterator[Callable[[int, int], None]]":
        told = -1

        def say(done: int, runs: int) -> None:
            nonlocal told
            if done * 10 // runs > told:
                told = done * 10 // runs
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
