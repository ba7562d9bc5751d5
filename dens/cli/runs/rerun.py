"""`dens rerun`: a run done again from its own folder, and held against the first."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson
from dens.cli.runs.run import ProgressForm, check_form, print_summary
from dens.config import exit_codes as exits


def rerun(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the new run; RUN-again by default.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace an earlier run there.")] = False,
    progress: ProgressForm = "auto",
    as_json: AsJson = False,
) -> None:
    """Do a run again and check that its trace is the same, byte for byte.

    It is made from the copies in the folder of the run, whatever became of the scenario's files. Other
    versions are told. A run that was interrupted is done again as far as it came, and the rows before that
    are compared. Ends 1 if the traces differ, unless corrections since the recorded version explain it;
    they are listed.
    """
    from dataclasses import asdict

    from dens.cli import console
    from dens.cli.progress import progress as shown
    from emulation.rerun import interrupted_at_ms, version_differences
    from emulation.rerun import rerun as do_again

    check_form(progress)
    folder = out or run.with_name(f"{run.resolve().name}-again")
    for difference in version_differences(run):
        console.say(f"other version: {difference.line()}", style="yellow")
    reached_ms = interrupted_at_ms(run)
    if reached_ms is not None:
        console.say(f"{run} was interrupted at {reached_ms / 1000:,.3f} s; it is done again as far as that")
    with shown(run.resolve().name, progress) as told:
        again = do_again(run, folder, told, force=force)
    if as_json:
        console.print_document(
            {
                **again.summary.as_document(),
                "run": str(folder),
                "versions": [asdict(difference) for difference in again.versions],
                "comparison": None if again.comparison is None else again.comparison.as_document(),
                "corrections": list(again.corrections),
            }
        )
    else:
        print_summary(again.summary, folder)
        if again.comparison is None:
            typer.echo("  interrupted before the end of the first run; their traces are not compared")
        else:
            for line in again.comparison.lines():
                typer.echo(f"  {line}")
            if not again.comparison.same_trace:
                _print_corrections(again.corrections)
    if again.comparison is None:
        raise typer.Exit(exits.INTERRUPTED)
    raise typer.Exit(exits.FINE if again.reproduced else exits.FINDING)


def _print_corrections(corrections: tuple[str, ...]) -> None:
    if not corrections:
        return
    typer.echo("  the difference is expected: results were corrected since this run was recorded")
    for line in corrections:
        typer.echo(f"    {line}")
    typer.echo(
        "  to reproduce the recorded bytes, install the recorded version (CHANGELOG.md has its commit)"
    )
