"""`dens report`: what the traces of runs say, computed by Spark, as one page that opens offline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson, SparkMaster

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dens.trace.manifest import Manifest
    from spark_analysis.answers import Analysis
    from spark_analysis.report.comparison import Comparison


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Folders that `dens run` or a node's --trace made; several are compared."
        ),
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
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import ExitStack

    from dens.app.summary import comparison_table, summary_table
    from dens.cli import console
    from dens.trace.manifest import read_manifest
    from spark_analysis.answers import Analysis
    from spark_analysis.report.build import load_pages, refuse_unwritable
    from spark_analysis.report.comparison import refuse_other_vocabularies
    from spark_analysis.run import is_large
    from spark_analysis.session.session import spark_session

    refuse_other_vocabularies([(run, read_manifest(run)) for run in runs])
    sizes = [is_large(run) for run in runs]  # what cannot be read is told before Spark is started
    target = output or (runs[0] / "report.html" if len(runs) == 1 else Path("comparison.html"))
    refuse_unwritable(target)
    replaced = target.is_file()
    try:
        with console.steps("starting Spark …") as step, ThreadPoolExecutor() as beside:
            loading = beside.submit(load_pages)
            spark = ExitStack()
            try:
                spark.enter_context(spark_session(master, large=any(sizes)))
                answers = _answers(runs, step)
            finally:
                closing = beside.submit(spark.close)  # while the page is drawn
            loading.result()
            step("drawing the report …")
            found = _written(answers, target, runs[0] if output is None else None)
            closing.result()
    except KeyboardInterrupt:
        raise typer.Abort from None  # which is told, as one word
    if as_json:
        console.print_document({**found.as_document(), "report": str(target)})
        return
    console.out().print(summary_table(found) if isinstance(found, Analysis) else comparison_table(found))
    typer.echo(where_line(target, replaced=replaced))


def where_line(target: Path, *, replaced: bool) -> str:
    """Return where the page is, and whether there was one before."""
    return f"report: {target}{' (replaced)' if replaced else ''}"


def _answers(runs: "Sequence[Path]", step: "Callable[[str], None]") -> "list[tuple[Manifest, Analysis]]":
    """Ask the runs one after the other, in the session that is open."""
    from spark_analysis.report.build import analyse
    from spark_analysis.run import open_run

    answers = []
    for number, folder in enumerate(runs, 1):
        step("analysing the trace …" if len(runs) == 1 else f"analysing run {number} of {len(runs)} …")
        run = open_run(folder)
        answers.append((run.manifest, analyse(run)))
    return answers


def _written(
    answers: "list[tuple[Manifest, Analysis]]", target: Path, run: Path | None
) -> "Analysis | Comparison":
    """Write the page of one run, into its folder if that is given, or of several side by side; return what it
    shows."""
    from spark_analysis.report.build import compare, write_comparison, write_report

    if len(answers) == 1:
        _, analysis = answers[0]
        write_report(analysis, target, run)
        return analysis
    comparison = compare(answers)
    write_comparison(comparison, target)
    return comparison
