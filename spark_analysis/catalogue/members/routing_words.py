"""Control messages between brokers."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit

WORDS: Final = ("advertise", "unadvertise", "join", "prune")


def counted(messages: pa.RecordBatch) -> Mapping[str, float]:
    """Count the control messages that arrived at another broker."""
    steps = pa.Table.from_batches([messages])
    came = pc.field("kind").isin(["replicated", "duplicate", "refused"])
    return {"words": steps.filter(came & pc.field("type").isin(WORDS)).num_rows}


def routing_words(evidence: Evidence) -> float | None:
    """Return control messages per delivery; None without brokers or deliveries."""
    assert evidence.tables is not None
    assert evidence.pairs is not None
    words = evidence.tables.sums("messages", ["kind", "type"], counted).get("words")
    delivered = evidence.pairs.counts.delivered
    return words / delivered if words and delivered else None


METRIC: Final = Metric(
    name="routing_words",
    title="routing messages",
    meaning="messages between brokers about advertisements and subscriptions, per delivery",
    unit=Unit.NUMBER,
    better="down",
    needs=frozenset({"tables", "pairs"}),
    of=routing_words,
    place=125,
)
