"""Recall against ground truth: readings and documents that subscribers should have received."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def recall(evidence: Evidence) -> float | None:
    """Return delivered / wanted pairs of reading or document and subscriber."""
    assert evidence.wanted is not None
    return evidence.wanted.share


METRIC: Final = Metric(
    name="recall",
    title="recall",
    meaning="delivered, share of all matching pairs of reading or document and subscriber",
    unit=Unit.SHARE,
    better="up",
    needs=frozenset({"wanted"}),
    of=recall,
    place=50,
)
