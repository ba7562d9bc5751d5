"""Matching time of mediators."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def matching_s(evidence: Evidence) -> float | None:
    """Return the time per notification that a mediator matched; None if no device has a cost."""
    done = evidence.matching
    assert done is not None
    return done.each(done.cost_us / 1e6) if done.cost_us else None


METRIC: Final = Metric(
    name="matching_s",
    title="matching time",
    meaning="matching time per notification at a mediator, from the devices’ profiles",
    unit=Unit.SECONDS,
    better="down",
    needs=frozenset({"matching"}),
    of=matching_s,
    place=130,
)
