"""Share of deliveries that were still possible at the end."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def open_ratio(evidence: Evidence) -> float | None:
    """Return open / expected pairs."""
    assert evidence.pairs is not None
    served = evidence.pairs.counts
    return served.open / served.expected if served.expected else None


METRIC: Final = Metric(
    name="open_ratio",
    title="still open",
    meaning="still open at the end, share of expected deliveries",
    unit=Unit.SHARE,
    better=None,
    needs=frozenset({"pairs"}),
    of=open_ratio,
    place=20,
)
