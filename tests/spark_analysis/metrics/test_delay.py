"""Delays by the number of hops; their distribution is in test_pair_figures.py."""

from pyspark.sql import SparkSession

from spark_analysis.metrics.delay import delay_by_hops

PAIRS = "delay_ms bigint, hops int"


def test_mean_delay_by_hops(spark: SparkSession) -> None:
    pairs = spark.createDataFrame([(10, 1), (30, 1), (50, 3), (None, None)], PAIRS)
    assert [tuple(row) for row in delay_by_hops(pairs).collect()] == [(1, 2, 20.0), (3, 1, 50.0)]
