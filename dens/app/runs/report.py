"""Analyses runs with Spark and writes the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dens.trace.manifest import Manifest
    from spark_analysis.answers import Analysis
    from spark_analysis.report.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Report:
    """The analysis of one run or the comparison of several, and the page that shows it."""

    result: "Analysis | Comparison"
    page: Path
    is_replaced: bool
    """Whether the page replaced an earlier one."""


def report(
    runs: Sequence[Path],
    output: Path | None = None,
    *,
    master: str | None = None,
    on_step: Callable[[str], None] = lambda step: None,
) -> Report:
    """Analyse one run, or compare several, and write the page.

    Input is checked before Spark starts. The page of one run is `report.html` in its folder by default, that
    of several `comparison.html` in the working directory.
    """
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import ExitStack

    from dens.trace.manifest import read_manifest
    from spark_analysis.report.build import load_pages, refuse_unwritable
    from spark_analysis.report.comparison import refuse_other_vocabularies, refuse_repeated_runs
    from spark_analysis.run import is_large
    from spark_analysis.session.session import spark_session

    manifests = [(run, read_manifest(run)) for run in runs]
    refuse_other_vocabularies(manifests)
    sizes = [is_large(run) for run in runs]
    refuse_repeated_runs(manifests)
    target = output or (runs[0] / "report.html" if len(runs) == 1 else Path("comparison.html"))
    refuse_unwritable(target)
    is_replaced = target.is_file()
    on_step("starting Spark …")
    with ThreadPoolExecutor() as threads:
        loading = threads.submit(load_pages)
        spark = ExitStack()
        try:
            spark.enter_context(spark_session(master, large=any(sizes)))
            analyses = _analyses(runs, on_step)
        finally:
            closing = threads.submit(spark.close)  # while the page is drawn
        loading.result()
        on_step("drawing the report …")
        result = _written(analyses, target, runs[0] if output is None else None)
        closing.result()
    return Report(result, target, is_replaced)


def _analyses(runs: Sequence[Path], on_step: Callable[[str], None]) -> "list[tuple[Manifest, Analysis]]":
    """Analyse the runs one after the other in the open session."""
    from spark_analysis.report.build import analyse
    from spark_analysis.run import open_run

    found = []
    for number, folder in enumerate(runs, 1):
        on_step("analysing the trace …" if len(runs) == 1 else f"analysing run {number} of {len(runs)} …")
        run = open_run(folder)
        found.append((run.manifest, analyse(run)))
    return found


def _written(
    analyses: "list[tuple[Manifest, Analysis]]", target: Path, run: Path | None
) -> "Analysis | Comparison":
    """Write the page of one run, with its figures beside it if `run` is given, or of several."""
    from spark_analysis.report.build import compare, write_comparison, write_report

    if len(analyses) == 1:
        _, analysis = analyses[0]
        write_report(analysis, target, run)
        return analysis
    comparison = compare(analyses)
    write_comparison(comparison, target)
    return comparison
