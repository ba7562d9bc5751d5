"""Share of duplicates among received notifications."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def duplicate_share(evidence: Evidence) -> float | None:
    """Return duplicates / (transfers + duplicates) of notifications between devices."""
    assert evidence.radio is not None
    radio = evidence.radio
    received = radio.relayed + radio.duplicates
    return radio.duplicates / received if received else None


def _note(evidence: Evidence) -> str:
    assert evidence.radio is not None
    return f"{evidence.radio.duplicates:,} notifications that the device already had"


METRIC: Final = Metric(
    name="duplicate_share",
    title="duplicates",
    meaning="duplicates, share of all notifications that a device received completely",
    unit=Unit.SHARE,
    better="down",
    needs=frozenset({"radio"}),
    of=duplicate_share,
    place=95,
    note=_note,
)
