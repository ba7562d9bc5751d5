"""The delivery ratio that does not depend on when the run stops."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def whole_lifetime_ratio(evidence: Evidence) -> float | None:
    """Return delivered / expected among the pairs that expired by the end."""
    assert evidence.pairs is not None
    return evidence.pairs.counts.whole_ratio


METRIC: Final = Metric(
    name="whole_lifetime_ratio",
    title="of whole lifetimes",
    meaning="delivered, share of deliveries that had their whole lifetime",
    unit=Unit.SHARE,
    better="up",
    needs=frozenset({"pairs"}),
    of=whole_lifetime_ratio,
    place=30,
)
