"""What brokers tell their neighbours: tables of entries, as they stood last."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

COUNTS = ("advertisements", "subscriptions", "covered", "mergers")


def tables_by_broker(routing: DataFrame) -> DataFrame:
    """Give, for each broker, the sums over its neighbours of what was told them last.

    Where several rows stand at one moment the last one counts.
    """
    by_link = Window.partitionBy("node", "peer").orderBy(F.desc("at_ms"), F.desc("row"))
    last = (
        routing.withColumn("row", F.monotonically_increasing_id())
        .withColumn("place", F.row_number().over(by_link))
        .where(F.col("place") == 1)
    )
    return last.groupBy("node").agg(
        F.count("*").alias("neighbours"), *(F.sum(name).alias(name) for name in COUNTS)
    )
