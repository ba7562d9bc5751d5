"""Delays: figures of what arrived, and how many had not."""

import math
import random

import pytest
from pyspark.sql import SparkSession

from spark_analysis.metrics.delay import PERCENTILES, delay_by_hops, delay_summary

PAIRS = "delay_ms bigint, hops int"


def test_percentiles_are_delays_that_occurred(spark: SparkSession) -> None:
    delays = [*range(1_000, 101_000, 1_000)]  # 1 s, 2 s … 100 s
    random.Random(4).shuffle(delays)
    pairs = spark.createDataFrame([(delay, 1) for delay in delays] + [(None, None)] * 7, PAIRS)
    row = delay_summary(pairs).first()
    assert row is not None
    assert (row["delivered"], row["censored"]) == (100, 7)
    assert row["mean_ms"] == 50_500
    assert row["max_ms"] == 100_000
    assert [row[f"p{p}_ms"] for p in PERCENTILES] == [50_000, 90_000, 95_000, 99_000]
    assert row["quantiles_ms"] == [1_000, *range(1_000, 101_000, 1_000)]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 777])
def test_percentiles_are_nearest_ranks(spark: SparkSession, count: int) -> None:
    chance = random.Random(count)
    delays = [chance.randrange(10_000) for _ in range(count)]
    row = delay_summary(spark.createDataFrame([(delay, 1) for delay in delays], PAIRS)).first()
    assert row is not None
    ordered = sorted(delays)
    for share, found in enumerate(row["quantiles_ms"]):
        assert found == ordered[max(math.ceil(share * count / 100), 1) - 1], share


def test_without_a_delivery_there_is_no_delay(spark: SparkSession) -> None:
    row = delay_summary(spark.createDataFrame([(None, None)], PAIRS)).first()
    assert row is not None
    assert (row["delivered"], row["censored"]) == (0, 1)
    assert [row["mean_ms"], row["max_ms"], row["p50_ms"], row["quantiles_ms"]] == [None] * 4


def test_mean_delay_by_hops(spark: SparkSession) -> None:
    pairs = spark.createDataFrame([(10, 1), (30, 1), (50, 3), (None, None)], PAIRS)
    assert [tuple(row) for row in delay_by_hops(pairs).collect()] == [(1, 2, 20.0), (3, 1, 50.0)]
