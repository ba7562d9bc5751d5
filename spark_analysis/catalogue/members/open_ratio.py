"""How much was still under way at the end, and might yet have arrived."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def open_ratio(evidence: Evidence) -> float | None:
    """Return open / owed pairs."""
    assert evidence.pairs is not None
    served = evidence.pairs.served
    return served.open / served.owed if served.owed else None


METRIC: Final = Metric(
    name="open_ratio",
    title="still open",
    meaning="still open at the end, share of owed pairs",
    unit=Unit.SHARE,
    better=None,
    needs=frozenset({"pairs"}),
    of=open_ratio,
    place=20,
)
