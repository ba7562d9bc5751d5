"""Remaining copies of notifications, computed by Spark."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.devices import Devices, with_device
from spark_analysis.metrics.radio_use import NOTIFICATION_TYPES
from spark_analysis.remaining_copies import ENDS, GAINS


def copies_at_end(messages: DataFrame, node_state: DataFrame, devices: Devices) -> DataFrame:
    """Return, for every notification that any engine held, whether a copy remains (`left`), whether a carrier
    has one (`carried_left`), and whether a carrier had one until it expired (`ran_out`). Defined in
    `spark_analysis.remaining_copies`.
    """
    inside = F.col("device") != F.col("node")
    is_loss = F.col("kind").isin(*ENDS) | (inside & (F.col("kind") == "acknowledged"))
    emptied = (
        node_state.where(F.col("reason") == "restart_empty")
        .groupBy("node")
        .agg(F.max("at_ms").alias("emptied_ms"))
    )
    steps = (
        messages.where(
            F.col("type").isin(*NOTIFICATION_TYPES) & F.col("kind").isin(*GAINS, *ENDS, "acknowledged")
        )
        .withColumn("row", F.monotonically_increasing_id())
        .transform(with_device, devices, "node", "device")
        .withColumn("is_gain", F.col("kind").isin(*GAINS))
        .where(F.col("is_gain") | is_loss)
    )
    by_engine = steps.groupBy("origin", "number", "node").agg(
        F.max_by("is_gain", F.struct("at_ms", "row")).alias("is_held"),
        F.max(F.when(F.col("is_gain"), F.col("at_ms"))).alias("gained_ms"),
        F.max((F.col("node") != F.col("origin")) | (F.col("kind") == "made")).alias("is_carrier"),
        F.max(F.col("kind") == "expired").alias("ran_out"),
    )
    is_left = F.col("is_held") & F.coalesce(F.col("gained_ms") >= F.col("emptied_ms"), F.lit(True))
    return (
        by_engine.join(F.broadcast(emptied), "node", "left")
        .groupBy("origin", "number")
        .agg(
            F.max(is_left).alias("left"),
            F.max(is_left & F.col("is_carrier")).alias("carried_left"),
            F.max(F.col("ran_out") & F.col("is_carrier")).alias("ran_out"),
        )
    )
