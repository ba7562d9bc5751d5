"""The metrics of a sweep: all metrics of the catalogue that need no Spark."""

from collections.abc import Mapping
from pathlib import Path

from dens.trace.manifest import read_manifest
from dens.trace.recorded_run import recorded_run
from spark_analysis.catalogue.evidence import SWEPT
from spark_analysis.catalogue.metric import Metric, values_of
from spark_analysis.catalogue.recorded import evidence_of
from spark_analysis.catalogue.registry import compared
from spark_analysis.errors import TraceError

KeyFigures = Mapping[str, float | None]


def swept_metrics() -> tuple[Metric, ...]:
    """Return the metrics that a sweep compares, in their order."""
    return compared(SWEPT)


def key_figures(folder: Path) -> dict[str, float | None]:
    """Return the metrics of a run by name. Raises `TraceError` if the run is incomplete, and `NotARun` if
    parts of its trace are missing.
    """
    if read_manifest(folder).partial:
        raise TraceError(f"{folder}: the run is incomplete and cannot be compared")
    return values_of(swept_metrics(), evidence_of(recorded_run(folder)))
