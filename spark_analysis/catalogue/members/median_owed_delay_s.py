"""Median delay of all expected deliveries, including those that never arrived or were open."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit
from spark_analysis.number_format import median_text, seconds, time_text


def median_owed_delay_s(evidence: Evidence) -> float | None:
    """Return the Kaplan–Meier median over all expected pairs; None if less than half arrived."""
    assert evidence.pairs is not None
    return seconds(evidence.pairs.delay.median)


def _text(evidence: Evidence) -> str:
    assert evidence.pairs is not None
    return median_text(median_owed_delay_s(evidence), seconds(evidence.pairs.delay.longest))


def _note(evidence: Evidence) -> str:
    assert evidence.pairs is not None
    arrived = evidence.pairs.delivered_delay.percentiles
    return (
        f"delay; Kaplan–Meier, {evidence.pairs.delay.censored:,} censored; of the delivered "
        f"{time_text(seconds(arrived[50]))}, 95 % within {time_text(seconds(arrived[95]))}"
    )


METRIC: Final = Metric(
    name="median_owed_delay_s",
    title="median of all",
    meaning="delay within which half of all expected deliveries arrive (Kaplan–Meier)",
    unit=Unit.SECONDS,
    better="down",
    needs=frozenset({"pairs"}),
    of=median_owed_delay_s,
    place=75,
    of_every_run=True,
    is_headline=True,
    text=_text,
    note=_note,
)
