"""Matching work of mediators."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def matching_steps(evidence: Evidence) -> float | None:
    """Return the counted steps per notification that a mediator matched."""
    assert evidence.matching is not None
    return evidence.matching.each(evidence.matching.steps)


def _note(evidence: Evidence) -> str:
    done = evidence.matching
    assert done is not None
    if not done.notifications:
        return "not counted"
    return f"{done.feature_tests:,} feature tests, {done.memberships:,} memberships in total"


METRIC: Final = Metric(
    name="matching_steps",
    title="matching work",
    meaning="feature tests, memberships and further steps per notification at a mediator",
    unit=Unit.NUMBER,
    better="down",
    needs=frozenset({"matching"}),
    of=matching_steps,
    place=120,
    note=_note,
)
