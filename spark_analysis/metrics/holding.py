"""What nodes hold: how full their buffers are, and how many copies of a notification there are."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.ordering import in_order


def held_over_time(buffers: DataFrame, bin_ms: int) -> DataFrame:
    """Give, for each bin in which something changed, what all nodes together hold at its end.

    `notifications` counts copies. A bin without a row is as the one before it.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms", "row")
    in_time = Window.orderBy("bin").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    numbered = buffers.withColumn("row", F.monotonically_increasing_id())
    changes = numbered.select(
        F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"),
        *(
            (F.col(name) - F.coalesce(F.lag(name).over(by_node), F.lit(0))).alias(name)
            for name in ("notifications", "notification_bytes")
        ),
    )
    sums = changes.groupBy("bin").agg(
        F.sum("notifications").alias("notifications"), F.sum("notification_bytes").alias("notification_bytes")
    )
    return sums.select(
        "bin",
        F.sum("notifications").over(in_time).alias("notifications"),
        F.sum("notification_bytes").over(in_time).alias("notification_bytes"),
    ).orderBy("bin")


def buffer_use(buffers: DataFrame, end_ms: int) -> DataFrame:
    """Give, for each node, how long it was watched, what it held in that time (items × milliseconds, so that
    means over time and several nodes can be taken) and its peaks in items and bytes.

    Where several rows stand at one moment the last one counts, so that what was there for no time is in no
    figure.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms", "row")
    lasting = (
        buffers.withColumn("row", F.monotonically_increasing_id())
        .withColumn("until_ms", F.coalesce(F.lead("at_ms").over(by_node), F.lit(end_ms)))
        .withColumn("for_ms", F.col("until_ms") - F.col("at_ms"))
        .where(F.col("for_ms") > 0)
    )
    return lasting.groupBy("node").agg(
        F.sum("for_ms").alias("watched_ms"),
        F.sum(F.col("notifications") * F.col("for_ms")).alias("item_ms"),
        F.max("notifications").alias("peak_items"),
        F.max("notification_bytes").alias("peak_bytes"),
    )


def copies_over_time(messages: DataFrame, bin_ms: int) -> DataFrame:
    """Count, for each bin in which there were any, the notifications made in it and the nodes that got a copy
    of any notification in it for the first time, its source included.

    Running sums of both give the replication degree so far: copies for each notification.
    """
    by_copy = _holding(messages).groupBy("origin", "number", "node").agg(F.min("at_ms").alias("at_ms"))
    made = F.col("node") == F.col("origin")
    return (
        by_copy.groupBy(F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"))
        .agg(F.count("*").alias("copies"), F.count(F.when(made, True)).alias("notifications"))
        .transform(in_order, "bin")
    )


def replication_degree(messages: DataFrame) -> DataFrame:
    """Give, for each notification, how many nodes ever held a copy, its source included."""
    return (
        _holding(messages)
        .groupBy("origin", "number")
        .agg(F.count_distinct("node").cast("int").alias("holders"))
    )


def _holding(messages: DataFrame) -> DataFrame:
    """Keep the steps by which a node comes to hold a notification."""
    by_kind = F.col("kind").isin("created", "made", "stored", "replicated")
    return messages.where(by_kind & (F.col("type") == "notification"))
