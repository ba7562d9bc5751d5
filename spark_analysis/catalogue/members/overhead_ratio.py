"""The ONE's overhead ratio: what carrying cost beside the deliveries themselves."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def overhead_ratio(evidence: Evidence) -> float | None:
    """Return (transfers - delivered) / delivered; both of notifications between devices, so it is never
    below 0.

    Without such deliveries it is None, and so it is for one real node, which hears of deliveries far away and
    not of the transfers that led to them.
    """
    assert evidence.radio is not None
    radio = evidence.radio
    if not radio.delivered_between_devices or radio.of_one_node:
        return None
    return (radio.relayed - radio.delivered_between_devices) / radio.delivered_between_devices


def _note(evidence: Evidence) -> str:
    assert evidence.radio is not None
    if evidence.radio.of_one_node:
        return "not known from one node’s view"
    return (
        f"{evidence.radio.relayed:,} transfers of notifications between devices, "
        f"{evidence.radio.delivered_between_devices:,} deliveries"
    )


METRIC: Final = Metric(
    name="overhead_ratio",
    title="overhead",
    meaning="The ONE’s overhead: transfers of notifications between devices, beyond one for each delivery",
    unit=Unit.NUMBER,
    better="down",
    needs=frozenset({"radio"}),
    of=overhead_ratio,
    place=90,
    is_headline=True,
    note=_note,
)
