"""What devices used, from the table `energy`: joules since the start, every ten minutes and at the end.

A device of several roles has one battery; it counts for the node that it is on the air.
"""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.ordering import in_order

USES: Final = ("idle_j", "radio_j", "compute_j")
"""For being up, for bytes sent and received, for readings and computation."""


def energy_used(energy: DataFrame) -> DataFrame:
    """Give one row a device: what it had used of each kind when it was last looked at, and its battery."""
    last = (F.max_by(name, "at_ms").alias(name) for name in (*USES, "battery_j"))
    return energy.groupBy("node").agg(*last)


def energy_over_time(energy: DataFrame, bin_ms: int) -> DataFrame:
    """Give, for each bin in which devices were looked at, the joules of each kind that were newly seen used.

    Running sums of them are what all devices together had used.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms")
    new = energy.select(
        F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"),
        *((F.col(name) - F.coalesce(F.lag(name).over(by_node), F.lit(0.0))).alias(name) for name in USES),
    )
    return new.groupBy("bin").agg(*(F.sum(name).alias(name) for name in USES)).transform(in_order, "bin")
