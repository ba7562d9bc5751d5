"""The figures by which a sweep compares runs: every metric of the catalogue that needs no Spark."""

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
    """Return the figures of a run by the names of their metrics; raise `TraceError` when it is not complete,
    and `NotARun` when it has lost some of its trace.
    """
    if read_manifest(folder).partial:
        raise TraceError(f"{folder}: the run is not complete, so it cannot be compared")
    return values_of(swept_metrics(), evidence_of(recorded_run(folder)))
