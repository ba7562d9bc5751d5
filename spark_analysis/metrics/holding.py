"""What devices hold: how full their buffers are, how many of them had a copy of a notification, and whether
there is a copy left.

A device holds what its engines hold together. Its publisher and its mediator have a buffer each, so a message
of its own takes room in both; it is one device that has a copy.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.copies_left import ENDS, GAINS
from spark_analysis.devices import Devices, with_device
from spark_analysis.metrics.ordering import in_order
from spark_analysis.metrics.overhead import NOTIFICATION_TYPES


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


def buffer_use(buffers: DataFrame, devices: Devices, end_ms: int) -> DataFrame:
    """Give, for each device, how long it was watched, what it held in that time (items × milliseconds, so
    that means over time and several devices can be taken) and its peaks in items and bytes.

    Where several rows stand at one moment the last one of each engine counts, so that what was there for no
    time is in no figure.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms", "row")
    counts = ("notifications", "notification_bytes")
    changes = (
        buffers.withColumn("row", F.monotonically_increasing_id())
        .select(
            "node",
            "at_ms",
            *((F.col(name) - F.coalesce(F.lag(name).over(by_node), F.lit(0))).alias(name) for name in counts),
        )
        .transform(with_device, devices, "node", "device")
        .groupBy("device", "at_ms")
        .agg(*(F.sum(name).alias(name) for name in counts))
    )
    by_device = Window.partitionBy("device").orderBy("at_ms")
    lasting = changes.select(
        "device",
        (F.coalesce(F.lead("at_ms").over(by_device), F.lit(end_ms)) - F.col("at_ms")).alias("for_ms"),
        *(F.sum(name).over(by_device).alias(name) for name in counts),
    ).where(F.col("for_ms") > 0)
    return lasting.groupBy(F.col("device").alias("node")).agg(
        F.sum("for_ms").alias("watched_ms"),
        F.sum(F.col("notifications") * F.col("for_ms")).alias("item_ms"),
        F.max("notifications").alias("peak_items"),
        F.max("notification_bytes").alias("peak_bytes"),
    )


def copies_over_time(messages: DataFrame, devices: Devices, bin_ms: int) -> DataFrame:
    """Count, for each bin in which there were any, the notifications made in it and the devices that got a
    copy of any notification in it for the first time, that of its source included.

    Running sums of both give the replication degree so far: devices for each notification.
    """
    made = F.col("device") == F.col("source")
    return (
        _held_by(messages, devices)
        .groupBy(F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"))
        .agg(F.count("*").alias("copies"), F.count(F.when(made, True)).alias("notifications"))
        .transform(in_order, "bin")
    )


def replication_degree(messages: DataFrame, devices: Devices) -> DataFrame:
    """Give, for each notification, how many devices ever held a copy, that of its source included."""
    return (
        _held_by(messages, devices).groupBy("origin", "number").agg(F.count("*").cast("int").alias("holders"))
    )


def _held_by(messages: DataFrame, devices: Devices) -> DataFrame:
    """Give one row for each notification and device that came to hold it, with the first time."""
    holding = messages.where(F.col("kind").isin(*GAINS) & (F.col("type") == "notification"))
    return (
        holding.transform(with_device, devices, "node", "device")
        .transform(with_device, devices, "origin", "source")
        .groupBy("origin", "number", "source", "device")
        .agg(F.min("at_ms").alias("at_ms"))
    )


def copies_at_end(messages: DataFrame, node_state: DataFrame, devices: Devices) -> DataFrame:
    """Say of every notification that any engine held whether a copy is left (`left`), whether a carrier has
    one (`carried_left`), and whether a carrier had one when its lifetime was over (`ran_out`). The
    definitions stand in `spark_analysis.copies_left`.
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
