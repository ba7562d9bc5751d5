"""`dens report`: analyses runs with Spark and writes a page."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson, SparkMaster


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Folders of runs or of `dens node run --trace`; several are compared."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Page to write. Default: RUN/report.html; for several runs comparison.html here.",
            show_default=False,
        ),
    ] = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Analyse a run and write a report, or compare several runs.

    Runs that differ only in their seed are one variant, with 95 % confidence intervals.
    """
    from dens.app.runs.report import report as write_report
    from dens.cli import console
    from dens.cli.runs.tables import comparison_table, summary_table
    from spark_analysis.answers import Analysis

    try:
        with console.steps() as step:
            written = write_report(runs, output, master=master, on_step=step)
    except KeyboardInterrupt:
        raise typer.Abort from None
    found = written.result
    if as_json:
        console.print_document({**found.as_document(), "report": str(written.page)})
        return
    console.out().print(summary_table(found) if isinstance(found, Analysis) else comparison_table(found))
    typer.echo(where_line(written.page, replaced=written.is_replaced))


def where_line(target: Path, *, replaced: bool) -> str:
    """Return where the page is, and whether it replaced another."""
    return f"report: {target}{' (replaced)' if replaced else ''}"
