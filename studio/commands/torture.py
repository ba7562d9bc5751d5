"""`dens torture`: the overlay's promises under every fault that a seed can draw."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from documents import exit_codes as exits
from studio.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulation.fault_injection.campaign import Verdict


class WorldKind(StrEnum):
    """What is put under torture."""

    ENGINES = "engines"
    DRIVER = "driver"


def torture(
    seeds: Annotated[
        str, typer.Option(metavar="N|A..B", help="Which seeds to run: 7, 1..50 or 1..3,9.")
    ] = "1..100",
    faults: Annotated[
        str,
        typer.Option(
            metavar="LIST", help="all, none, or some of them: crash,loss,… (an unknown one lists all)."
        ),
    ] = "all",
    world: Annotated[
        WorldKind,
        typer.Option(help="What is under torture: the engines, or the real UDP driver around them."),
    ] = WorldKind.ENGINES,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Run one plan that was kept, instead of seeds.", show_default=False
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write the plan of every world that fails here.", show_default=False
        ),
    ] = None,
    covering: Annotated[
        bool,
        typer.Option("--covering", help="Let mediators spare covered installs in every seed, not in some."),
    ] = False,
    composing: Annotated[
        bool,
        typer.Option(
            "--composing", help="Let mediators compose, and sources predict, sequences in every seed."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run seeded worlds of the real engines and check every promise after every step.

    Worlds of the driver draw their own hardships (spoofed sources, restarts at new ports, wrong clocks,
    replays); --faults is for engines.

    A broken promise prints the command that shows it again, and ends 4. Ctrl-C tells what was done.

    What a seed draws may change with this program; a plan that --keep wrote stays the world that it was.
    """
    from documents.reading import read_document
    from emulation.fault_injection.campaign import judge, parse_faults, run_driver_seeds, run_seeds
    from emulation.fault_injection.campaign import keep as keep_plan
    from emulation.fault_injection.plan_file import read_plan
    from emulation.seeds import MOST_WORLDS, parse_seeds
    from studio import console

    if world is WorldKind.DRIVER and (plan is not None or keep is not None):
        raise typer.BadParameter("worlds of the driver have no plan files; leave --plan and --keep out")
    for given, option in ((covering, "--covering"), (composing, "--composing")):
        if given and (plan is not None or world is WorldKind.DRIVER):
            raise typer.BadParameter(f"{option} is for seeds of the engines; a plan says it itself")
    kept = None if plan is None else read_plan(read_document(plan), str(plan))
    try:
        wanted, chosen = parse_seeds(seeds, MOST_WORLDS), parse_faults(faults)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if kept is not None:
        wanted = (kept.seed,)
    verdicts: list[Verdict] = []
    telling = max(10, len(wanted) // 100)

    def report(verdict: "Verdict") -> None:
        verdicts.append(verdict)
        if not verdict.ok:
            console.say(
                f"seed {verdict.seed}: promise {verdict.invariant} broken: {verdict.message}", style="red"
            )
            console.say(f"  again: {verdict.command}")
            if keep is not None:
                console.say(f"  kept: {keep_plan(verdict, keep)}")
        if len(verdicts) % telling == 0 and len(verdicts) < len(wanted):
            console.say(f"{len(verdicts):,} of {len(wanted):,} seeds")

    is_interrupted = False
    try:
        if kept is not None:
            report(judge(kept, str(plan)))
        elif world is WorldKind.DRIVER:
            run_driver_seeds(wanted, report)
        else:
            run_seeds(wanted, chosen, report, covering, composing)
    except KeyboardInterrupt:
        is_interrupted = True
    if as_json:
        console.print_document(_document(verdicts, chosen, is_interrupted))
    else:
        begun = f"interrupted after {len(verdicts):,} of {len(wanted):,}: " if is_interrupted else ""
        typer.echo(begun + _line(verdicts))
    if is_interrupted:
        raise typer.Exit(exits.INTERRUPTED)
    raise typer.Exit(exits.FINE if all(verdict.ok for verdict in verdicts) else exits.ABORTED)


def _document(verdicts: "list[Verdict]", faults: "Sequence[str]", is_interrupted: bool) -> dict[str, Any]:
    """Return what became of the seeds that were run, for programs."""
    return {
        "seeds": len(verdicts),
        "interrupted": is_interrupted,
        "faults": list(faults),
        "broken": [one.as_dict() for one in verdicts if not one.ok],
        "delivered": sum(verdict.delivered for verdict in verdicts),
        "crashes": sum(verdict.crashes for verdict in verdicts),
        "steps": sum(verdict.steps for verdict in verdicts),
    }


def _line(verdicts: "list[Verdict]") -> str:
    """Return the same for people."""
    broken = sum(not verdict.ok for verdict in verdicts)
    return (
        f"{len(verdicts):,} {'seed' if len(verdicts) == 1 else 'seeds'}, "
        f"{sum(verdict.steps for verdict in verdicts):,} steps, "
        f"{sum(verdict.crashes for verdict in verdicts):,} crashes, "
        f"{sum(verdict.delivered for verdict in verdicts):,} deliveries: "
        + (f"{broken} broke a promise" if broken else "every promise held")
    )
