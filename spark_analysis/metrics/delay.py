"""How long an owed notification took to its subscriber.

A delay runs from the event to the moment the application saw it. What had not arrived when the run ended has
a delay that is only known to be longer than it was watched. Two distributions are therefore asked for: that
of `OWED` pairs, in which open pairs are censored and missed ones never arrive, and that of `DELIVERED` pairs
alone; lost pairs never arrive either, and withdrawn ones were watched until the withdrawal. What their
percentiles are stands in `spark_analysis.survival`."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.devices import Devices, with_device
from spark_analysis.metrics.ordering import in_order

OWED: Final = "owed"
DELIVERED: Final = "delivered"


def watched_delays(pairs: DataFrame, end_ms: int) -> DataFrame:
    """Give how long each pair was watched, as `metrics/estimates.py` takes it; a delivered one counts in both
    distributions.
    """
    outcome = F.col("outcome")
    time_ms = (
        F.when(outcome == "delivered", F.col("delay_ms"))
        .when(outcome == "withdrawn", F.col("withdrawn_ms") - F.col("event_ms"))
        .when(outcome == "missed", F.col("lifetime_ms"))
        .otherwise(F.lit(end_ms) - F.col("event_ms"))
    )
    of_which = F.when(outcome == "delivered", F.array(F.lit(OWED), F.lit(DELIVERED)))
    return pairs.select(
        F.explode(of_which.otherwise(F.array(F.lit(OWED)))).alias("which"),
        time_ms.alias("time_ms"),
        (outcome == "delivered").cast("int").alias("ended"),
        outcome.isin("open", "withdrawn").cast("int").alias("censored"),
        outcome.isin("missed", "lost").cast("int").alias("never"),
    )


def delay_by_hops(pairs: DataFrame, devices: Devices) -> DataFrame:
    """Give the number of delivered pairs and their mean delay for each number of transfers between devices.

    An engine inside a device talks with its own mediator only, so the first step of what it publishes, and
    the last one of what it is shown, stay in the device.
    """
    told = pairs.where(F.col("delay_ms").isNotNull())
    for node in ("origin", "subscriber"):
        told = told.transform(with_device, devices, node, f"{node}_device").withColumn(
            "hops", F.col("hops") - (F.col(node) != F.col(f"{node}_device")).cast("int")
        )
    return (
        told.groupBy("hops")
        .agg(F.count("*").alias("delivered"), F.mean("delay_ms").alias("mean_ms"))
        .transform(in_order, "hops")
    )
