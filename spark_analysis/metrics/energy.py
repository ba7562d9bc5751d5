"""What devices used, from the table `energy`: joules since the start, every ten minutes and at the end.

A device of several roles has one battery; it counts for the node that it is on the air.
"""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

USES: Final = ("idle_j", "radio_j", "compute_j")
"""For being up, for bytes sent and received, for readings and computation."""


def energy_used(energy: DataFrame) -> DataFrame:
    """Give one row a device: what it had used of each kind, and in all, when it was last looked at."""
    last = {name: F.max_by(name, "at_ms").alias(name) for name in (*USES, "battery_j")}
    return (
        energy.groupBy("node")
        .agg(*last.values())
        .withColumn("total_j", F.col("idle_j") + F.col("radio_j") + F.col("compute_j"))
    )


def energy_by(used: DataFrame, nodes: DataFrame, *by: str) -> DataFrame:
    """Add up `energy_used` by role or group: devices, joules of each kind, and batteries that ran empty.

    Nodes that no energy is known of are not counted.
    """
    return (
        used.join(F.broadcast(nodes.select("node", "group", "role")), "node")
        .groupBy(*by)
        .agg(
            F.count("*").alias("devices"),
            *(F.sum(name).alias(name) for name in (*USES, "total_j")),
            F.count(F.when(F.col("battery_j") <= 0, True)).alias("empty"),
        )
        .orderBy(*by)
    )


def energy_for_deliveries(used: DataFrame, messages: DataFrame) -> DataFrame:
    """Give one row: joules of all devices, deliveries, and joules for each delivery (null without any).

    `radio_j_per_delivery` leaves out what is used whether or not anything is sent.
    """
    delivered = messages.where(F.col("kind") == "delivered").agg(F.count("*").alias("delivered"))
    sums = used.agg(F.sum("total_j").alias("total_j"), F.sum("radio_j").alias("radio_j"))
    return sums.crossJoin(delivered).withColumns(
        {
            "j_per_delivery": F.try_divide("total_j", "delivered"),
            "radio_j_per_delivery": F.try_divide("radio_j", "delivered"),
        }
    )


def energy_over_time(energy: DataFrame, bin_ms: int) -> DataFrame:
    """Give, for each bin in which devices were looked at, the joules of each kind that were newly seen used.

    Running sums of them are what all devices together had used.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms")
    new = energy.select(
        F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"),
        *((F.col(name) - F.coalesce(F.lag(name).over(by_node), F.lit(0.0))).alias(name) for name in USES),
    )
    return new.groupBy("bin").agg(*(F.sum(name).alias(name) for name in USES)).orderBy("bin")
