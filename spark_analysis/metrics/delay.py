"""How long an owed notification took to its subscriber.

A delay runs from the event to the moment the application saw it. What had not arrived when the run ended
has a delay that is only known to be longer than it was watched; it is counted as censored and stays out of
mean and percentiles, which are therefore statements about what was delivered. Percentiles are
`percentile_approx`: each is a delay that occurred, the smallest one that at least that share of all delays
does not exceed.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.ordering import in_order

PERCENTILES: Final = (50, 90, 95, 99)
CDF_POINTS: Final = 100


def delay_summary(pairs: DataFrame) -> DataFrame:
    """Give one row: delivered and censored pairs, mean, maximum, the `PERCENTILES` and the quantiles of the
    CDF.

    `quantiles_ms[i]` is the delay within which the share i / `CDF_POINTS` of the delivered pairs arrived.
    """
    # A hair less than i / 100: 0.07 * 100 is more than 7 in floating point and would take the next rank.
    shares = [max(i / CDF_POINTS - 1e-9, 0.0) for i in range(CDF_POINTS + 1)]
    summary = pairs.agg(
        F.count("delay_ms").alias("delivered"),
        F.count(F.when(F.col("delay_ms").isNull(), True)).alias("censored"),
        F.mean("delay_ms").alias("mean_ms"),
        F.max("delay_ms").alias("max_ms"),
        F.percentile_approx("delay_ms", shares).alias("quantiles_ms"),
    )
    return summary.withColumns(
        {f"p{p}_ms": F.get("quantiles_ms", F.lit(p * CDF_POINTS // 100)) for p in PERCENTILES}
    )


def delay_by_hops(pairs: DataFrame) -> DataFrame:
    """Give the number of delivered pairs and their mean delay for each number of hops."""
    return (
        pairs.where(F.col("delay_ms").isNotNull())
        .groupBy("hops")
        .agg(F.count("*").alias("delivered"), F.mean("delay_ms").alias("mean_ms"))
        .transform(in_order, "hops")
    )
