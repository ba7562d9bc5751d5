"""What filtering and matching cost the processors of the nodes, from their board profiles."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def computing_cost(steps: DataFrame, nodes: DataFrame) -> DataFrame:
    """Give steps, total and mean cost by group.

    On `filter_decisions` a step is a reading judged, on `matches` a match found. A group that did nothing
    has no mean.
    """
    groups = nodes.select("node", "group")
    return (
        groups.join(steps.select("node", "cost_us"), "node", "left")
        .groupBy("group")
        .agg(
            F.count("cost_us").alias("steps"),
            F.coalesce(F.sum("cost_us"), F.lit(0.0)).alias("total_us"),
            F.mean("cost_us").alias("us_per_step"),
        )
        .orderBy("group")
    )
