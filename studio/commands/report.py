"""`dens report`: what a run's trace says, computed by Spark, as one page that opens offline."""

from pathlib import Path
from typing import Annotated

import typer

from studio.options import AsJson


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `dens run` made.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page to write; RUN/report.html by default.")
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(
            help="Spark master; local[*] by default.", envvar="DENS_SPARK_MASTER", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Analyse a run with Spark, print a summary and write the report."""
    from spark_analysis.manifest import read_manifest
    from spark_analysis.report import analyse, write_report
    from spark_analysis.run import open_run
    from spark_analysis.session import close_session, open_session
    from studio import console
    from studio.summary import summary_table

    read_manifest(run)  # a folder that is no run is told before Spark is started
    target = output or run / "report.html"
    with console.steps("starting Spark …") as step:
        spark = open_session(master)
        try:
            step("analysing the trace …")
            analysis = analyse(open_run(run, spark))
            step("drawing the report …")
            write_report(analysis, target)
        finally:
            close_session(spark)
    if as_json:
        console.print_document({**analysis.as_document(), "report": str(target)})
    else:
        console.out().print(summary_table(analysis))
        typer.echo(f"report: {target}")
