"""Median delay of delivered pairs."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit
from spark_analysis.number_format import seconds


def median_delay_s(evidence: Evidence) -> float | None:
    """Return the median over delivered pairs, an observed value."""
    assert evidence.pairs is not None
    return seconds(evidence.pairs.delivered_delay.median)


METRIC: Final = Metric(
    name="median_delay_s",
    title="median delay",
    meaning="median delay of delivered pairs",
    unit=Unit.SECONDS,
    better="down",
    needs=frozenset({"pairs"}),
    of=median_delay_s,
    place=70,
)
