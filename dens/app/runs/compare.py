"""Compares two runs."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dens.trace.comparison import Comparison


def compare(one: Path, other: Path) -> "Comparison":
    """Compare settings, figures and traces of two runs, and if their traces differ, also their metrics."""
    from dens.trace.comparison import compare_runs

    comparison = compare_runs(one, other)
    return comparison if comparison.same_rows else _with_metrics(comparison, one, other)


def _with_metrics(comparison: "Comparison", one: Path, other: Path) -> "Comparison":
    """Add the metrics that differ; none for large runs and for languages that are not installed."""
    from dataclasses import replace

    from dens.app.runs.summary import MAX_MATCHED
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
        if max(run.rows("notifications") for run in runs) > MAX_MATCHED:
            return comparison
        mine, theirs = (values_of(compared(SWEPT), evidence_of(run)) for run in runs)
    except (NotARun, TraceError, RegistryError, VectorError, DocumentError):
        return comparison
    return replace(comparison, figures=(*comparison.figures, *differences(mine, theirs, "metrics")))
