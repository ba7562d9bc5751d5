"""`dens compare`: compares two runs."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson
from dens.config import exit_codes as exits


def compare(
    one: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    other: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of another run.")],
    as_json: AsJson = False,
) -> None:
    """Compare settings, figures, metrics and traces of two runs.

    Exits with 1 if rows of the traces differ. The same rows in another order within a moment are reported,
    and the exit code is 0.
    """
    from dens.app.runs.compare import compare as compare_runs
    from dens.cli import console

    comparison = compare_runs(one, other)
    if as_json:
        console.print_document(comparison.as_document())
    else:
        for line in comparison.lines():
            typer.echo(line)
    raise typer.Exit(exits.FINE if comparison.same_rows else exits.FINDING)
