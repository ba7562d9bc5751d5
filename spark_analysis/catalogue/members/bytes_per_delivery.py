"""Bytes on the air per delivery, including all message types."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def bytes_per_delivery(evidence: Evidence) -> float | None:
    """Return all bytes sent, with interrupted transfers, per delivery, composites included."""
    assert evidence.radio is not None
    return evidence.radio.bytes_on_air / evidence.radio.deliveries if evidence.radio.deliveries else None


METRIC: Final = Metric(
    name="bytes_per_delivery",
    title="radio per delivery",
    meaning="bytes sent, of all message types, per delivery, composites included",
    unit=Unit.BYTES,
    better="down",
    needs=frozenset({"radio"}),
    of=bytes_per_delivery,
    place=100,
    is_headline=True,
    note=lambda evidence: "bytes sent, of all message types",
)
