"""`dens rerun`: repeats a run from its folder and compares the traces."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AllowCode, AsJson
from dens.cli.runs.run import ProgressForm, check_form, print_summary
from dens.config import exit_codes as exits


def rerun(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the new run; RUN-again by default.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace an earlier run.")] = False,
    allow_code: AllowCode = False,
    progress: ProgressForm = "auto",
    as_json: AsJson = False,
) -> None:
    """Repeat a run and verify that its trace is identical.

    The run is repeated from the copies in its folder, not from the original files. Different versions are
    reported. An interrupted run is repeated up to the point of interruption. Exits with 1 if the traces
    differ, unless corrections since the recorded version explain it; these are listed.
    """
    from dataclasses import asdict

    from dens.cli import console
    from dens.cli.progress import progress as shown
    from emulation.rerun import interrupted_at_ms, version_differences
    from emulation.rerun import rerun as repeat

    check_form(progress)
    folder = out or run.with_name(f"{run.resolve().name}-again")
    for difference in version_differences(run):
        console.say(f"different version: {difference.line()}", style="yellow")
    reached_ms = interrupted_at_ms(run)
    if reached_ms is not None:
        console.say(f"{run} was interrupted at {reached_ms / 1000:,.3f} s and is repeated up to there")
    with shown(run.resolve().name, progress) as on_progress:
        again = repeat(run, folder, on_progress, force=force, allow_code=allow_code)
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
            typer.echo("  interrupted before the end of the first run; the traces are not compared")
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
    typer.echo("  the difference is expected: results were corrected after this run was recorded")
    for line in corrections:
        typer.echo(f"    {line}")
    typer.echo(
        "  to reproduce the recorded bytes, install the recorded version (CHANGELOG.md has its commit)"
    )
