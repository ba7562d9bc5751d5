"""What filtering costs the processors of the nodes, from their board profiles."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def computing_cost(steps: DataFrame, *by: str) -> DataFrame:
    """Give steps and their total cost for each value of `by`; of `filter_decisions` a step is a reading."""
    return steps.groupBy(*by).agg(
        F.count("cost_us").alias("steps"), F.coalesce(F.sum("cost_us"), F.lit(0.0)).alias("total_us")
    )
