"""`dens torture`: the overlay's promises under every fault that a seed can draw."""

from typing import Annotated

import typer

from studio import exits
from studio.options import AsJson


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
    as_json: AsJson = False,
) -> None:
    """Run seeded worlds of the real engines and check every promise after every step.

    A broken promise prints the command that shows it again, and ends 4.
    """
    from dataclasses import asdict

    from emulation.seeds import MOST_WORLDS, parse_seeds
    from emulation.torture.torture import Verdict, parse_faults
    from emulation.torture.torture import torture as run_worlds
    from studio import console

    try:
        wanted, chosen = parse_seeds(seeds, MOST_WORLDS), parse_faults(faults)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    done = 0
    telling = max(10, len(wanted) // 100)

    def report(verdict: Verdict) -> None:
        nonlocal done
        done += 1
        if not verdict.ok:
            console.say(
                f"seed {verdict.seed}: promise {verdict.invariant} broken: {verdict.message}", style="red"
            )
            console.say(f"  again: {verdict.command}")
        if done % telling == 0 and done < len(wanted):
            console.say(f"{done:,} of {len(wanted):,} seeds")

    verdicts = run_worlds(wanted, chosen, report)
    broken = [verdict for verdict in verdicts if not verdict.ok]
    if as_json:
        console.print_document(
            {
                "seeds": len(verdicts),
                "faults": list(chosen),
                "broken": [{**asdict(verdict), "command": verdict.command} for verdict in broken],
                "delivered": sum(verdict.delivered for verdict in verdicts),
                "crashes": sum(verdict.crashes for verdict in verdicts),
                "steps": sum(verdict.steps for verdict in verdicts),
            }
        )
    else:
        typer.echo(
            f"{len(verdicts):,} {'seed' if len(verdicts) == 1 else 'seeds'}, "
            f"{sum(verdict.steps for verdict in verdicts):,} steps, "
            f"{sum(verdict.crashes for verdict in verdicts):,} crashes, "
            f"{sum(verdict.delivered for verdict in verdicts):,} deliveries: "
            + (f"{len(broken)} broke a promise" if broken else "every promise held")
        )
    raise typer.Exit(exits.ABORTED if broken else exits.FINE)
