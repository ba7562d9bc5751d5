"""A metric: how many of the frames that were sent were lost on the air."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def counted(steps: pa.RecordBatch) -> Mapping[str, float]:
    """Count some rows of the table; at the top of a module, because it travels to Spark's workers."""
    return {kind: pc.sum(pc.equal(steps["kind"], kind)).as_py() or 0 for kind in ("sent", "lost")}


def lost_share(evidence: Evidence) -> float | None:
    """Return the share; of nothing None, never 0. The same code runs with and without Spark."""
    assert evidence.tables is not None
    sums = evidence.tables.sums("messages", ["kind"], counted)
    return sums["lost"] / sums["sent"] if sums.get("sent") else None


LOST_SHARE = Metric(
    name="lost_share",
    title="lost frames",
    meaning="frames that were lost on the air, share of those sent",
    unit=Unit.SHARE,
    better="down",
    needs=frozenset({"tables"}),  # also: pairs, radio, readings, wanted, truth
    of=lost_share,
)
