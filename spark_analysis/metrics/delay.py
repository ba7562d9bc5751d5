"""Delays of expected deliveries.

A delay runs from the event to the application. There are two distributions: that of `EXPECTED_PAIRS`, in
which open pairs are censored at the end, withdrawn ones at the withdrawal, and missed and lost ones never
arrive; and that of `DELIVERED` pairs only. Percentiles are defined in `spark_analysis.survival`.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

EXPECTED_PAIRS: Final = "owed"
DELIVERED: Final = "delivered"


def watched_delays(pairs: DataFrame, end_ms: int) -> DataFrame:
    """Return the observed time of each pair in the form that `metrics/estimates.py` takes; delivered pairs
    are in both distributions.
    """
    outcome = F.col("outcome")
    time_ms = (
        F.when(outcome == "delivered", F.col("delay_ms"))
        .when(outcome == "withdrawn", F.col("withdrawn_ms") - F.col("event_ms"))
        .when(outcome == "missed", F.col("lifetime_ms"))
        .otherwise(F.lit(end_ms) - F.col("event_ms"))
    )
    of_which = F.when(outcome == "delivered", F.array(F.lit(EXPECTED_PAIRS), F.lit(DELIVERED)))
    return pairs.select(
        F.explode(of_which.otherwise(F.array(F.lit(EXPECTED_PAIRS)))).alias("which"),
        time_ms.alias("time_ms"),
        (outcome == "delivered").cast("int").alias("ended"),
        outcome.isin("open", "withdrawn").cast("int").alias("censored"),
        outcome.isin("missed", "lost").cast("int").alias("never"),
    )
