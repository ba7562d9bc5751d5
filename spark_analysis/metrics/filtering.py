"""What the watchdogs kept at home.

Without a filter at the source every reading would be a notification vector on the air. How long that vector
would have been follows from the reading alone: 6 + k + 2F bytes for k values and F bytes of feature mask
(SPEC §3). The bytes saved count one transmission of each vector that stayed, from the publisher to the
first mediator, without its envelope and without the copies that the overlay would have carried further: a
lower bound.
"""

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

VECTOR_HEADER_BYTES: Final = 6


def with_rate(filter_decisions: DataFrame, nodes: DataFrame, bytes_per_s: Mapping[str, float]) -> DataFrame:
    """Add the rate of the publisher's radio, `rate_bytes_per_s`, from the rates of the groups."""
    pairs = [F.lit(value) for item in bytes_per_s.items() for value in item]
    rate = F.try_element_at(F.create_map(*pairs), F.col("group")) if pairs else F.lit(None).cast("double")
    rates = nodes.select("node", rate.cast("double").alias("rate_bytes_per_s"))
    return filter_decisions.join(F.broadcast(rates), "node", "left")


def filter_savings(filter_decisions: DataFrame) -> DataFrame:
    """Give one row: readings judged, released and kept, the share kept, vector bytes and seconds on the air
    kept, and the computing it cost. The readings come `with_rate`; where a radio's rate is not known the
    seconds are null.

    `unasked` counts the readings that were kept because no subscription was installed yet; `suppressed`
    those that matched and were held back by hysteresis or a minimum interval.
    """
    kept = F.col("released") == 0
    vector_bytes = F.lit(VECTOR_HEADER_BYTES) + F.length("values") + 2 * F.length("attributes")
    counts = filter_decisions.agg(
        F.count("*").alias("judged"),
        F.count(F.when(~kept, True)).alias("released"),
        F.count(F.when(kept, True)).alias("kept"),
        F.count(F.when(kept & (F.col("installed") == 0), True)).alias("unasked"),
        F.count("suppressed").alias("suppressed"),
        F.coalesce(F.sum("released"), F.lit(0)).alias("notifications"),
        F.coalesce(F.sum(vector_bytes), F.lit(0)).alias("vector_bytes_judged"),
        F.coalesce(F.sum(F.when(kept, vector_bytes)), F.lit(0)).alias("vector_bytes_kept"),
        F.sum(F.when(kept, vector_bytes / F.col("rate_bytes_per_s"))).alias("radio_s_kept"),
        F.mean("cost_us").alias("mean_cost_us"),
    )
    return counts.withColumn("share_kept", F.try_divide("kept", "judged"))
