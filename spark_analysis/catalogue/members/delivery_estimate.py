"""The Kaplan–Meier estimate of the share that arrives within its lifetime; open pairs are censored."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def delivery_estimate(evidence: Evidence) -> float | None:
    """Return the estimate; None if no pair had its whole lifetime."""
    assert evidence.pairs is not None
    return evidence.pairs.estimate


METRIC: Final = Metric(
    name="delivery_estimate",
    title="estimate",
    meaning="delivered within the lifetime, estimated share (Kaplan–Meier)",
    unit=Unit.SHARE,
    better="up",
    needs=frozenset({"pairs"}),
    of=delivery_estimate,
    place=40,
)
