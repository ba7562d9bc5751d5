"""Share of frames that relays sent for others, below the overlay."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def forwarded_share(evidence: Evidence) -> float | None:
    """Return the share of all frames that were sent by relays; None if nothing was forwarded."""
    assert evidence.radio is not None
    radio = evidence.radio
    return radio.forwarded_frames / radio.frames if radio.forwarded_frames else None


METRIC: Final = Metric(
    name="forwarded_share",
    title="forwarded",
    meaning="frames that relays sent for others, share of all frames",
    unit=Unit.SHARE,
    better=None,
    needs=frozenset({"radio"}),
    of=forwarded_share,
    place=110,
    note=lambda evidence: "frames that relays sent for others",
)
