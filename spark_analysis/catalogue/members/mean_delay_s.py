"""Mean delay of delivered pairs."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit
from spark_analysis.number_format import seconds


def mean_delay_s(evidence: Evidence) -> float | None:
    """Return the mean over delivered pairs only."""
    assert evidence.pairs is not None
    return seconds(evidence.pairs.delivered_delay.mean)


METRIC: Final = Metric(
    name="mean_delay_s",
    title="mean delay",
    meaning="mean delay of delivered pairs",
    unit=Unit.SECONDS,
    better="down",
    needs=frozenset({"pairs"}),
    of=mean_delay_s,
    place=60,
)
