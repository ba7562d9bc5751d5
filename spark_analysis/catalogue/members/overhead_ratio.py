"""The ONE's overhead ratio: what carrying cost beside the deliveries themselves."""

from typing import Final

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def overhead_ratio(evidence: Evidence) -> float | None:
    """Return (relayed - delivered) / delivered, of transfers of notifications.

    Without deliveries it is None, and so it is for one real node, which hears of deliveries far away and not
    of the transfers that led to them.
    """
    assert evidence.radio is not None
    radio = evidence.radio
    if not radio.delivered or radio.of_one_node:
        return None
    return (radio.relayed - radio.delivered) / radio.delivered


def _note(evidence: Evidence) -> str:
    assert evidence.radio is not None
    if overhead_ratio(evidence) is None and evidence.radio.delivered:
        return "not known from one node’s view"
    return f"{evidence.radio.relayed:,} transfers of notifications"


METRIC: Final = Metric(
    name="overhead_ratio",
    title="overhead",
    meaning="The ONE’s overhead: transfers beyond one for each delivery",
    unit=Unit.NUMBER,
    better="down",
    needs=frozenset({"radio"}),
    of=overhead_ratio,
    place=90,
    is_headline=True,
    note=_note,
)
