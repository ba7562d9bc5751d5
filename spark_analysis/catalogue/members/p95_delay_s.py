"""95th percentile of the delay of delivered pairs."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit
from spark_analysis.number_format import seconds


def p95_delay_s(evidence: Evidence) -> float | None:
    """Return the delay within which 95 % of the delivered pairs arrived, an observed value."""
    assert evidence.pairs is not None
    return seconds(evidence.pairs.delivered_delay.percentiles[95])


METRIC: Final = Metric(
    name="p95_delay_s",
    title="95 % within",
    meaning="delay within which 95 % of delivered pairs arrived",
    unit=Unit.SECONDS,
    better="down",
    needs=frozenset({"pairs"}),
    of=p95_delay_s,
    place=80,
)
