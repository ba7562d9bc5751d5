"""`dens run`: runs a scenario, with one seed or with many."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from dens.cli.options import AllowCode, AsJson
from dens.cli.progress import FORMS
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from emulation.run import RunSummary
    from emulation.scenario import Scenario


def _scenarios(incomplete: str) -> list[str]:
    from emulation.scenario import shipped_scenarios

    return [name for name in shipped_scenarios() if name.startswith(incomplete)]


ProgressForm = Annotated[
    str,
    typer.Option(
        "--progress",
        metavar="|".join(FORMS),
        help="Progress on stderr: a bar on a terminal, or one JSON line per step.",
    ),
]


def run(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A shipped scenario (rescue), or a TOML file.",
            autocompletion=_scenarios,
        ),
    ],
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="N|A..B",
            help="Seed, or several: 1..50 or 1..3,9. Default: the scenario's.",
            show_default=False,
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Change a key of the scenario: group[0].count=20; repeatable.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder of the run; runs/NAME-SEED by default. Several seeds: OUT/seed-N.",
            show_default=False,
        ),
    ] = None,
    processes: Annotated[
        int, typer.Option("-j", "--jobs", min=1, max=1024, metavar="N", help="Parallel runs.")
    ] = 1,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace an earlier run.")] = False,
    allow_code: AllowCode = False,
    progress: ProgressForm = "auto",
    as_json: AsJson = False,
) -> None:
    """Run a scenario in the emulator and write its trace.

    Nodes run the same code as real ones. The same file and seed give the same trace. Ctrl-C leaves a valid
    partial run.
    """
    from dens.app.runs.run import run_folder, run_into
    from dens.app.runs.summary import delivery_document, delivery_of_run
    from dens.cli import console
    from dens.cli.progress import progress as shown
    from emulation.random.seeds import parse_seeds
    from emulation.scenario import load_scenario
    from emulation.scenario.changes import what_is_malformed

    check_form(progress)
    try:
        seeds = None if seed is None else parse_seeds(seed)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--seed") from None
    changes = change or []
    for one in changes:
        if (malformed := what_is_malformed(one)) is not None:
            raise typer.BadParameter(f"{one!r} {malformed}", param_hint="--set")
    if seeds is not None and len(seeds) > 1:
        replications = _Replications(scenario, changes, seeds, out, processes, force, allow_code)
        _run_all(replications, progress, as_json)
    loaded = load_scenario(scenario, changes)
    print_warnings(loaded, progress)
    chosen_seed = loaded.seed if seeds is None else seeds[0]
    folder = out or run_folder(loaded, chosen_seed)
    with shown(loaded.name, progress) as on_progress:
        summary = run_into(
            loaded, chosen_seed, folder, progress=on_progress, force=force, allow_code=allow_code
        )
    if as_json:
        delivery = delivery_document(delivery_of_run(folder, summary.notifications))
        console.print_document({**summary.as_document(), "delivery": delivery, "run": str(folder)})
    else:
        print_summary(summary, folder)
    raise typer.Exit(exits.INTERRUPTED if summary.status == "partial" else exits.FINE)


def print_warnings(loaded: "Scenario", progress: str) -> None:
    """Print the warnings of a scenario in the form of its progress."""
    from dens.cli import console
    from dens.cli.failures import problem_document
    from dens.cli.progress import print_line

    for warning in loaded.warnings:
        if progress == "json":
            print_line({"warning": problem_document(warning)})
        else:
            console.say(str(warning), style="yellow")


def check_form(progress: str) -> None:
    """Reject an unknown form of progress."""
    if progress not in FORMS:
        raise typer.BadParameter(f"{progress}: use one of {', '.join(FORMS)}", param_hint="--progress")


def print_summary(summary: "RunSummary", folder: Path) -> None:
    """Print the folder and the summary of a run."""
    typer.echo(f"run: {folder}")
    from dens.app.runs.summary import delivery_line, delivery_of_run, prediction_line

    for line in summary.lines():
        typer.echo(f"  {line}")
    typer.echo(f"  {delivery_line(delivery_of_run(folder, summary.notifications))}")
    if summary.notifications and (predictions := prediction_line(folder)) is not None:
        typer.echo(f"  {predictions}")


@dataclass(frozen=True, slots=True)
class _Replications:
    """Runs of one scenario with several seeds."""

    scenario: str
    changes: Sequence[str]
    seeds: tuple[int, ...]
    out: Path | None
    processes: int
    force: bool
    allow_code: bool


def _run_all(replications: _Replications, progress: str, as_json: bool) -> NoReturn:
    """Run every seed, report each when it ends, and exit."""
    from dens.cli import console
    from dens.cli.progress import print_line
    from emulation.replications import ReplicationsInterrupted, run_replications
    from emulation.scenario import load_scenario

    seeds = replications.seeds
    loaded = load_scenario(replications.scenario, replications.changes)
    print_warnings(loaded, progress)
    folder = replications.out or Path("runs") / loaded.name
    ended = 0

    def done(summary: "RunSummary") -> None:
        nonlocal ended
        ended += 1
        if progress == "json":
            print_line({**summary.as_document(), "done": ended, "of": len(seeds)})
        elif progress == "auto":
            console.say(f"{ended} of {len(seeds)}: seed {summary.seed}, {summary.delivered:,} deliveries")

    try:
        summaries = run_replications(
            replications.scenario,
            seeds,
            folder,
            changes=replications.changes,
            processes=replications.processes,
            force=replications.force,
            allow_code=replications.allow_code,
            done=done,
        )
    except ReplicationsInterrupted as stopped:
        summaries = stopped.summaries
        console.say(stopped.line(), style="yellow")
    if as_json:
        runs = [{**one.as_document(), "run": str(folder / f"seed-{one.seed}")} for one in summaries]
        console.print_document({"runs": runs})
    elif summaries:
        typer.echo(f"runs: {folder}/seed-N, {len(summaries)} {'seed' if len(summaries) == 1 else 'seeds'}")
        delivered = [summary.delivered for summary in summaries]
        mean = sum(delivered) / len(delivered)
        typer.echo(f"  deliveries: {min(delivered):,} to {max(delivered):,}, mean {mean:,.1f}")
    whole = len(summaries) == len(seeds) and all(summary.status == "complete" for summary in summaries)
    raise typer.Exit(exits.FINE if whole else exits.INTERRUPTED)
