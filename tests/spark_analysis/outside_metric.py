"""A metric as another package would bring it: how many of the frames that were sent did not arrive."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def _counted(steps: pa.RecordBatch) -> Mapping[str, float]:
    kinds = {row["values"]: row["counts"] for row in pc.value_counts(steps["kind"]).to_pylist()}
    return {kind: kinds.get(kind, 0) for kind in ("sent", "lost")}


def lost_share(evidence: Evidence) -> float | None:
    assert evidence.tables is not None
    sums = evidence.tables.sums("messages", ["kind"], _counted)
    return sums["lost"] / sums["sent"] if sums.get("sent") else None


METRIC = Metric(
    name="lost_share",
    title="lost frames",
    meaning="frames that were lost on the air, share of those sent",
    unit=Unit.SHARE,
    better="down",
    needs=frozenset({"tables"}),
    of=lost_share,
)

NAMESAKE = Metric(
    name="delivery_ratio",
    title="something else",
    meaning="another thing of the same name",
    unit=Unit.NUMBER,
    better=None,
    needs=frozenset({"pairs"}),
    of=lambda evidence: None,
)
