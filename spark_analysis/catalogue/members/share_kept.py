"""Share of readings that were suppressed at the source."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def share_kept(evidence: Evidence) -> float | None:
    """Return kept / judged readings."""
    assert evidence.readings is not None
    return evidence.readings.share


def _note(evidence: Evidence) -> str:
    assert evidence.readings is not None
    return f"at the source, of {evidence.readings.judged:,} readings"


METRIC: Final = Metric(
    name="share_kept",
    title="suppressed",
    meaning="share of readings that the source filter suppressed",
    unit=Unit.SHARE,
    better=None,
    needs=frozenset({"readings"}),
    of=share_kept,
    place=110,
    is_headline=True,
    note=_note,
)
