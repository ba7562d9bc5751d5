"""`dens torture`: injects faults and checks the promises of the overlay (docs/reference/protocols.md)."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulation.fault_injection.campaign import Verdict
    from emulation.fault_injection.progress import Progress

_SAVE_EVERY_S = 2.0


class WorldKind(StrEnum):
    """What is tested."""

    ENGINES = "engines"
    BROKERS = "brokers"
    LANGUAGES = "languages"
    DRIVER = "driver"


def torture(
    seeds: Annotated[str, typer.Option(metavar="N|A..B", help="Seeds: 7, 1..50 or 1..3,9.")] = "1..100",
    faults: Annotated[
        str,
        typer.Option(metavar="LIST", help="all, none, or a list: crash,loss,… (an unknown name lists all)."),
    ] = "all",
    world: Annotated[
        WorldKind,
        typer.Option(
            help="What to test: engines (with a small test language), brokers, the shipped languages, or the "
            "UDP driver."
        ),
    ] = WorldKind.ENGINES,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Run a plan that --keep wrote, instead of seeds.", show_default=False
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the plans of failing worlds.", show_default=False),
    ] = None,
    progress: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of finished seeds; continue with the others.",
            show_default=False,
        ),
    ] = None,
    covering: Annotated[
        bool,
        typer.Option("--covering", metavar="", help="Suppress covered installs in every seed, not in some."),
    ] = False,
    composing: Annotated[
        bool,
        typer.Option(
            "--composing", metavar="", help="Compose and predict sequences in every seed, not in some."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Inject faults into the engines and check their promises.

    Each seed is a small network with random faults; every promise (docs/reference/protocols.md) is checked
    after every step. Worlds of the driver have faults of their own (spoofed sources, restarts at new ports,
    wrong clocks, replays); --faults is for engines.

    With --progress, seeds can be run in several sessions; totals include all of them.

    A broken promise prints the command that reproduces it, and the exit code is 4. Ctrl-C prints the
    totals so far.

    Seeds may give other worlds in other versions; a plan of --keep stays the same.
    """
    import time

    from dens.cli import console
    from dens.config.atomic_write import write_whole
    from dens.config.reading import read_document
    from emulation.fault_injection.campaign import judge, parse_faults, run_driver_seeds, run_plans, run_seeds
    from emulation.fault_injection.campaign import keep as keep_plan
    from emulation.fault_injection.plan import draw_brokers, draw_languages
    from emulation.fault_injection.plan_file import read_plan
    from emulation.fault_injection.progress import Progress, read_progress
    from emulation.random.seeds import MOST_WORLDS, parse_seeds

    if world is WorldKind.DRIVER and (plan is not None or keep is not None):
        raise typer.BadParameter("worlds of the driver have no plan files; omit --plan and --keep")
    if plan is not None and progress is not None:
        raise typer.BadParameter("--progress is for seeds; a plan is one world")
    for given, option in ((covering, "--covering"), (composing, "--composing")):
        if given and (plan is not None or world is not WorldKind.ENGINES):
            raise typer.BadParameter(f"{option} is for seeds of the engines; a plan contains it")
    kept = None if plan is None else read_plan(read_document(plan), str(plan))
    try:
        wanted, chosen = parse_seeds(seeds, MOST_WORLDS), parse_faults(faults)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if kept is not None:
        wanted = (kept.seed,)
    options = ["--covering"] * covering + ["--composing"] * composing
    named = faults if faults in ("all", "none") else ",".join(chosen)
    done = Progress(" ".join([world, named, *options]))
    if progress is not None and progress.exists():
        done = read_progress(read_document(progress), str(progress), done.campaign, MOST_WORLDS)
    left = [seed for seed in wanted if seed not in done.finished]
    run_before = len(wanted) - len(left)
    if run_before:
        console.say(f"{run_before:,} of {len(wanted):,} seeds were finished before")
    report_every = max(10, len(wanted) // 100)
    saved_s = time.monotonic()

    def save() -> None:
        if progress is not None:
            write_whole(progress, done.encode())

    def report(verdict: "Verdict") -> None:
        nonlocal saved_s
        done.add(verdict)
        if not verdict.ok:
            console.say(
                f"seed {verdict.seed}: promise {verdict.invariant} broken: {verdict.message}", style="red"
            )
            console.say(f"  reproduce: {verdict.command}")
            if keep is not None:
                console.say(f"  plan: {keep_plan(verdict, keep)}")
        if len(done.finished) % report_every == 0 and len(done.finished) < len(wanted):
            console.say(f"{len(done.finished):,} of {len(wanted):,} seeds")
        if time.monotonic() >= saved_s + _SAVE_EVERY_S:
            save()
            saved_s = time.monotonic()

    is_interrupted = False
    try:
        if kept is not None:
            report(judge(kept, str(plan)))
        elif world is WorldKind.DRIVER:
            run_driver_seeds(left, report)
        elif world is WorldKind.ENGINES:
            run_seeds(left, chosen, report, covering, composing)
        else:
            draws = draw_brokers if world is WorldKind.BROKERS else draw_languages
            run_plans(left, draws, chosen, report)
    except KeyboardInterrupt:
        is_interrupted = True
    save()
    if as_json:
        console.print_document(_document(done, chosen, is_interrupted))
    else:
        begun = f"interrupted after {len(done.finished):,} of {len(wanted):,}: " if is_interrupted else ""
        typer.echo(begun + _line(done))
    if is_interrupted:
        raise typer.Exit(exits.INTERRUPTED)
    raise typer.Exit(exits.ABORTED if done.broken else exits.FINE)


def _document(done: "Progress", faults: "Sequence[str]", is_interrupted: bool) -> dict[str, Any]:
    return {
        "seeds": len(done.finished),
        "interrupted": is_interrupted,
        "faults": list(faults),
        "broken": done.broken,
        "delivered": done.delivered,
        "crashes": done.crashes,
        "steps": done.steps,
    }


def _line(done: "Progress") -> str:
    count = len(done.finished)
    return (
        f"{count:,} {'seed' if count == 1 else 'seeds'}, {done.steps:,} steps, {done.crashes:,} crashes, "
        f"{done.delivered:,} deliveries: "
        + (f"{len(done.broken)} broke a promise" if done.broken else "every promise held")
    )
