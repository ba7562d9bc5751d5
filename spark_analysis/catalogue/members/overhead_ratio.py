"""The overhead ratio of The ONE: transfers beyond the deliveries themselves."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def overhead_ratio(evidence: Evidence) -> float | None:
    """Return (transfers - delivered) / delivered, both of notifications between devices; never negative.

    None without such deliveries, and for one real node, whose trace has remote deliveries without their
    transfers.
    """
    assert evidence.radio is not None
    radio = evidence.radio
    if not radio.delivered_between_devices or radio.of_one_node:
        return None
    return (radio.relayed - radio.delivered_between_devices) / radio.delivered_between_devices


def _note(evidence: Evidence) -> str:
    assert evidence.radio is not None
    if evidence.radio.of_one_node:
        return "unknown for the trace of one node"
    return (
        f"{evidence.radio.relayed:,} transfers of notifications between devices, "
        f"{evidence.radio.delivered_between_devices:,} deliveries"
    )


METRIC: Final = Metric(
    name="overhead_ratio",
    title="overhead",
    meaning="overhead as in The ONE: extra transfers of notifications between devices per delivery",
    unit=Unit.NUMBER,
    better="down",
    needs=frozenset({"radio"}),
    of=overhead_ratio,
    place=90,
    is_headline=True,
    note=_note,
)
