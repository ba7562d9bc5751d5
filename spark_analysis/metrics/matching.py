"""What mediators did to find out who a notification is for, as they counted it, and how long that took."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.matching_figures import COUNTS, SUMMED


def matching_by_node(matching_work: DataFrame) -> DataFrame:
    """Give the sums of each mediator."""
    named = F.col("number").isNotNull()
    return matching_work.groupBy("node").agg(
        *(F.sum(F.when(named, F.col(name))).alias(name) for name in SUMMED),
        F.sum(F.when(~named, F.col("cost_us"))).alias("late_us"),
    )


def matching_before_it_was_counted(matches: DataFrame) -> DataFrame:
    """Give the sums of each mediator as traces before version 4 know them: a constant for each match found,
    and nothing of what was judged in vain.
    """
    found = F.count_distinct("origin", "number").alias("notifications")
    unknown = (F.lit(0).alias(name) for name in (*COUNTS, "late_us"))
    costly = matches.where(F.col("cost_us") > 0).groupBy("node")
    return costly.agg(found, F.count("*").alias("matches"), F.sum("cost_us").alias("cost_us")).select(
        "*", *unknown
    )
