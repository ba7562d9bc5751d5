"""`dens compare`: two runs side by side."""

from pathlib import Path
from typing import Annotated

import typer

from documents import exit_codes as exits
from studio.options import AsJson


def compare(
    one: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    other: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of another.")],
    as_json: AsJson = False,
) -> None:
    """Say how two runs differ: in their settings, their figures and the tables of their traces.

    Ends 1 if rows of their traces differ; the same rows in another order within a moment are told and end 0.
    """
    from studio import console
    from traces.comparison import compare_runs

    comparison = compare_runs(one, other)
    if as_json:
        console.print_document(comparison.as_document())
    else:
        for line in comparison.lines():
            typer.echo(line)
    raise typer.Exit(exits.FINE if comparison.same_rows else exits.FINDING)
