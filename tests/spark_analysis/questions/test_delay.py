"""Delays by the number of hops; their distribution is in test_pair_figures.py."""

from pyspark.sql import SparkSession

from spark_analysis.devices import Devices
from spark_analysis.questions.delay import delay_by_hops

PAIRS = "delay_ms bigint, hops int, origin int, subscriber int"
ROWS = [(10, 2, 1, 2), (30, 2, 1, 2), (50, 3, 4, 5), (70, 2, 4, 2), (None, None, 1, 2)]


def test_mean_delay_by_hops(spark: SparkSession) -> None:
    pairs = spark.createDataFrame(ROWS, PAIRS)
    found = delay_by_hops(pairs, Devices(6, {})).collect()
    assert [tuple(row) for row in found] == [(2, 3, 110 / 3), (3, 1, 50.0)]


def test_hand_over_inside_a_device_does_not_count_as_transfer(spark: SparkSession) -> None:
    """Engines 4 and 5 are inside devices."""
    pairs = spark.createDataFrame(ROWS, PAIRS)
    found = delay_by_hops(pairs, Devices(4, {4: 1, 5: 2})).collect()
    assert [tuple(row) for row in found] == [(1, 2, 60.0), (2, 2, 20.0)]
