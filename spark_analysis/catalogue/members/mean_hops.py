"""Mean radio hops of multi-hop frames."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit


def counted(hops: pa.RecordBatch) -> Mapping[str, float]:
    """Count the frames that arrived, and their hops, from the last row of each."""
    has_arrived = (pc.field("peer") == pc.field("destination")) & pc.field("lost").is_null()
    last = pa.Table.from_batches([hops]).filter(has_arrived)
    return {"frames": last.num_rows, "hops": pc.sum(last["hop"]).as_py() or 0}


def mean_hops(evidence: Evidence) -> float | None:
    """Return the mean radio hops of multi-hop frames that arrived; None without any."""
    assert evidence.tables is not None
    sums = evidence.tables.sums("hops", ["peer", "destination", "hop", "lost"], counted)
    return sums["hops"] / sums["frames"] if sums.get("frames") else None


METRIC: Final = Metric(
    name="mean_hops",
    title="radio hops",
    meaning="mean radio hops of multi-hop frames",
    unit=Unit.NUMBER,
    better=None,
    needs=frozenset({"tables"}),
    of=mean_hops,
    place=120,
)
