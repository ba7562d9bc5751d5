"""`dens report`: what the traces of runs say, computed by Spark, as one page that opens offline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studio.options import AsJson, SparkMaster

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spark_analysis.answers import Analysis
    from spark_analysis.comparison import Comparison


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Folders that `dens run` made; several are compared.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The page to write; RUN/report.html by default, of several runs comparison.html here.",
            show_default=False,
        ),
    ] = None,
    master: SparkMaster = None,
    as_json: AsJson = False,
) -> None:
    """Analyse a run with Spark, print a summary and write the report; put several runs side by side.

    Runs that differ in nothing but their seed count as one variant, with 95 % confidence intervals.
    """
    from spark_analysis.answers import Analysis
    from spark_analysis.comparison import refuse_strangers
    from spark_analysis.manifest import read_manifest
    from spark_analysis.report import refuse_unwritable
    from spark_analysis.run import is_large
    from spark_analysis.session import close_session, open_session
    from studio import console
    from studio.summary import comparison_table, summary_table

    refuse_strangers([(run, read_manifest(run)) for run in runs])
    sizes = [is_large(run) for run in runs]  # what cannot be read is told before Spark is started
    target = output or (runs[0] / "report.html" if len(runs) == 1 else Path("comparison.html"))
    refuse_unwritable(target)
    try:
        with console.steps("starting Spark …") as step:
            spark = open_session(master, large=any(sizes))
            try:
                found = _analysed(runs, target, step)
            finally:
                close_session(spark)
    except KeyboardInterrupt:
        raise typer.Abort from None  # which is told, as one word
    if as_json:
        console.print_document({**found.as_document(), "report": str(target)})
        return
    console.out().print(summary_table(found) if isinstance(found, Analysis) else comparison_table(found))
    typer.echo(f"report: {target}")


def _analysed(runs: "Sequence[Path]", target: Path, step: "Callable[[str], None]") -> "Analysis | Comparison":
    """Ask the runs and write the page, in the session that is open."""
    from spark_analysis.report import analyse, compare, write_comparison, write_report
    from spark_analysis.run import open_run

    if len(runs) == 1:
        step("analysing the trace …")
        analysis = analyse(open_run(runs[0]))
        step("drawing the report …")
        write_report(analysis, target)
        return analysis
    answers = []
    for number, folder in enumerate(runs, 1):
        step(f"analysing run {number} of {len(runs)} …")
        run = open_run(folder)
        answers.append((run.manifest, analyse(run)))
    step("drawing the comparison …")
    comparison = compare(answers)
    write_comparison(comparison, target)
    return comparison
