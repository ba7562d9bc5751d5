"""How long two nodes are in range of each other, and how long they are apart.

Both are censored data. A contact that had begun when the run started, or was still going on when it ended,
is only known to be at least as long as it was watched; the time after a pair's last contact is only known
to be at least what was left of the run. Leaving them out would favour short times, taking them as whole
would make them up: they are marked, kept out of plain means, and the survival curve and the median (Kaplan
and Meier's, `metrics/estimates.py`) make proper use of them.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812


def until(contacts: DataFrame, end_ms: int) -> DataFrame:
    """Cut the table at the end of the run; a partial run's contacts were computed for the whole scenario."""
    return contacts.where(F.col("begin_ms") < end_ms).withColumns(
        {
            "end_ms": F.least("end_ms", F.lit(float(end_ms))),
            "censored": F.col("censored") | (F.col("end_ms") >= end_ms),
        }
    )


def contact_times(contacts: DataFrame) -> DataFrame:
    """Give one row a contact: the pair, its length, and whether that is only a lower bound."""
    return contacts.select(
        "a",
        "b",
        (F.col("end_ms") - F.col("begin_ms")).alias("time_ms"),
        (F.col("censored") | (F.col("begin_ms") <= 0)).alias("censored"),
    )


def inter_contact_times(contacts: DataFrame, end_ms: int) -> DataFrame:
    """Give one row a gap: the time from the end of a pair's contact to its next one, or, censored, to the
    run's end.

    A contact that lasted to the end of the run is followed by no gap. Pairs that never met have no row.
    """
    by_pair = Window.partitionBy("a", "b").orderBy("begin_ms")
    return (
        contacts.withColumn("next_ms", F.lead("begin_ms").over(by_pair))
        .where(F.col("next_ms").isNotNull() | ~F.col("censored"))
        .select(
            "a",
            "b",
            (F.coalesce("next_ms", F.lit(float(end_ms))) - F.col("end_ms")).alias("time_ms"),
            F.col("next_ms").isNull().alias("censored"),
        )
    )


def as_watched(times: DataFrame, which: str) -> DataFrame:
    """Mark times as `metrics/estimates.py` takes them, under the name of their distribution."""
    return times.select(
        F.lit(which).alias("which"),
        "time_ms",
        (~F.col("censored")).cast("int").alias("ended"),
        F.col("censored").cast("int").alias("censored"),
        F.lit(0).alias("never"),
    )


def pairs_met(contacts: DataFrame) -> DataFrame:
    """Give one row: how many pairs of nodes were in range of each other at least once."""
    return contacts.select("a", "b").distinct().agg(F.count("*").alias("pairs_met"))
