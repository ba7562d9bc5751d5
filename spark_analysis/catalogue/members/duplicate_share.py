"""How much of what came complete to another device brought nothing new."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def duplicate_share(evidence: Evidence) -> float | None:
    """Return duplicates / (transfers + duplicates) of notifications between devices; None of neither."""
    assert evidence.radio is not None
    radio = evidence.radio
    came = radio.relayed + radio.duplicates
    return radio.duplicates / came if came else None


def _note(evidence: Evidence) -> str:
    assert evidence.radio is not None
    return f"{evidence.radio.duplicates:,} notifications that the device had already"


METRIC: Final = Metric(
    name="duplicate_share",
    title="duplicates",
    meaning="notifications that came complete to a device that had them, share of all that came complete",
    unit=Unit.SHARE,
    better="down",
    needs=frozenset({"radio"}),
    of=duplicate_share,
    place=95,
    note=_note,
)
