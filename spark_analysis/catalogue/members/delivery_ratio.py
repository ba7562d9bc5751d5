"""The delivery ratio as in The ONE. It depends on when the run stops, so its note gives the other figures."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit
from spark_analysis.number_format import share_text


def delivery_ratio(evidence: Evidence) -> float | None:
    """Return delivered / expected pairs; an open pair counts as not delivered."""
    assert evidence.pairs is not None
    return evidence.pairs.counts.ratio


def _note(evidence: Evidence) -> str:
    assert evidence.pairs is not None
    served = evidence.pairs.counts
    return (
        f"{served.delivered:,} of {served.expected:,} expected; {served.open:,} still open; "
        f"of whole lifetimes {share_text(served.whole_ratio)}; "
        f"Kaplan–Meier estimate {share_text(evidence.pairs.estimate)}"
    )


METRIC: Final = Metric(
    name="delivery_ratio",
    title="delivered",
    meaning="delivered, share of expected deliveries",
    unit=Unit.SHARE,
    better="up",
    needs=frozenset({"pairs"}),
    of=delivery_ratio,
    place=10,
    is_headline=True,
    note=_note,
)
