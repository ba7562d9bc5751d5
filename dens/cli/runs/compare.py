"""`dens compare`: two runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from dens.trace.comparison import Comparison


def compare(
    one: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    other: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of another.")],
    as_json: AsJson = False,
) -> None:
    """Say how two runs differ: in their settings, figures and metrics, and the tables of their traces.

    Ends 1 if rows of their traces differ; the same rows in another order within a moment are told and end 0.
    """
    from dens.cli import console
    from dens.trace.comparison import compare_runs

    comparison = compare_runs(one, other)
    if not comparison.same_rows:
        comparison = with_metrics(comparison, one, other)
    if as_json:
        console.print_document(comparison.as_document())
    else:
        for line in comparison.lines():
            typer.echo(line)
    raise typer.Exit(exits.FINE if comparison.same_rows else exits.FINDING)


def with_metrics(comparison: "Comparison", one: Path, other: Path) -> "Comparison":
    """Add the metrics in which runs differ; none where those of either run cannot be told here: it is large,
    or speaks a language that is not installed.
    """
    from dataclasses import replace

    from dens.app.summary import MOST_ASKED
    from dens.config.problems import DocumentError
    from dens.trace.comparison import differences
    from dens.trace.recorded_run import recorded_run
    from dens.trace.run_documents import NotARun
    from plugins.registry import RegistryError
    from spark_analysis.catalogue.evidence import SWEPT
    from spark_analysis.catalogue.metric import values_of
    from spark_analysis.catalogue.recorded import evidence_of
    from spark_analysis.catalogue.registry import compared
    from spark_analysis.errors import TraceError
    from watchdog.vector import VectorError

    try:
        runs = [recorded_run(folder) for folder in (one, other)]
        if max(run.rows("notifications") for run in runs) > MOST_ASKED:
            return comparison
        mine, theirs = (values_of(compared(SWEPT), evidence_of(run)) for run in runs)
    except (NotARun, TraceError, RegistryError, VectorError, DocumentError):
        return comparison
    return replace(comparison, figures=(*comparison.figures, *differences(mine, theirs, "metrics")))
