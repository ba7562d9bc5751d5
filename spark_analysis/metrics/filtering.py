"""What the watchdogs kept at home.

Without a filter at the source every reading would be a notification vector on the air. How long that vector
would have been follows from the reading alone: 6 + k + 2F bytes for k values and F bytes of feature mask
(docs/vector-format.md). The bytes saved count one transmission of each vector that stayed, from the
publisher to the first mediator, without its envelope and without the copies that the overlay would have
carried further: a lower bound.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

VECTOR_HEADER_BYTES: Final = 6


def filter_savings(filter_decisions: DataFrame, *by: str) -> DataFrame:
    """Give readings judged, released and kept, the vector bytes of all and of those kept, and the computing
    that judging them cost, for each value of `by`.

    `unasked` counts the readings that were kept because no subscription was installed yet; `suppressed`
    those that matched and were held back by hysteresis or a minimum interval.
    """
    kept = F.col("released") == 0
    vector_bytes = F.lit(VECTOR_HEADER_BYTES) + F.length("values") + 2 * F.length("attributes")
    return filter_decisions.groupBy(*by).agg(
        F.count("*").alias("judged"),
        F.count(F.when(~kept, True)).alias("released"),
        F.count(F.when(kept, True)).alias("kept"),
        F.count(F.when(kept & (F.col("installed") == 0), True)).alias("unasked"),
        F.count("suppressed").alias("suppressed"),
        F.coalesce(F.sum("released"), F.lit(0)).alias("notifications"),
        F.coalesce(F.sum(vector_bytes), F.lit(0)).alias("vector_bytes_judged"),
        F.coalesce(F.sum(F.when(kept, vector_bytes)), F.lit(0)).alias("vector_bytes_kept"),
        F.coalesce(F.sum("cost_us"), F.lit(0.0)).alias("cost_us"),
    )
