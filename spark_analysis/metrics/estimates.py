"""Kaplan–Meier estimates computed by Spark, by the definition in `spark_analysis.survival`.

Spark counts and sorts equal times; the curve is computed by the same code as in sweeps, the live view and
`dens contacts`, in one pass with bounded memory.

A delay runs from the event to the application. There are two distributions of delays: that of
`EXPECTED_PAIRS`, in which open pairs are censored at the end, withdrawn ones at the withdrawal, and missed
and lost ones never arrive; and that of `DELIVERED` pairs only.
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DoubleType, LongType, StringType, StructField, StructType

from spark_analysis.survival import Estimate, KaplanMeier, estimate

EXPECTED_PAIRS: Final = "expected"
DELIVERED: Final = "delivered"

ESTIMATES = StructType(
    [
        StructField("which", StringType(), False),
        StructField("known", LongType(), False),
        StructField("censored", LongType(), False),
        StructField("never", LongType(), False),
        StructField("mean", DoubleType(), True),
        StructField("longest", DoubleType(), True),
        StructField("longest_known", DoubleType(), True),
        StructField("percentiles", ArrayType(DoubleType()), False),
        StructField("left", DoubleType(), True),
        StructField("survival", ArrayType(ArrayType(DoubleType())), False),
    ]
)
"""One row per distribution: the fields of `spark_analysis.survival.Estimate`."""

_ESTIMATES_COLUMNS: Final[list[tuple[str, pa.DataType]]] = [
    ("which", pa.string()),
    ("known", pa.int64()),
    ("censored", pa.int64()),
    ("never", pa.int64()),
    ("mean", pa.float64()),
    ("longest", pa.float64()),
    ("longest_known", pa.float64()),
    ("percentiles", pa.list_(pa.float64())),
    ("left", pa.float64()),
    ("survival", pa.list_(pa.list_(pa.float64()))),
]
_ESTIMATES_ARROW: Final = pa.schema(_ESTIMATES_COLUMNS)
_COUNTS: Final = ("ended", "censored", "never")


def watched_delays(pairs: DataFrame, end_ms: int) -> DataFrame:
    """Return the observed time of each pair in the form that `life_table` takes; delivered pairs
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


def life_table(times: DataFrame) -> DataFrame:
    """Count, for each distribution `which` and each time, how many ended, were censored or never end.

    `times` has the columns which, time_ms and a 0 or 1 for each of ended, censored and never.
    """
    return times.groupBy("which", F.col("time_ms").cast("double").alias("time_ms")).agg(
        *(F.sum(F.col(name).cast("long")).alias(name) for name in _COUNTS)
    )


def estimates(table: DataFrame) -> DataFrame:
    """Return the `ESTIMATES` of a life table; a distribution without times has no row."""
    everything = sum((F.col(name) for name in _COUNTS), F.lit(0))
    counted = table.withColumn("total", F.sum(everything).over(Window.partitionBy("which")))
    in_order = counted.select("which", "total", "time_ms", *_COUNTS).sortWithinPartitions("which", "time_ms")
    return in_order.mapInArrow(_curves, ESTIMATES)


def _curves(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    curve: KaplanMeier | None = None
    current: str | None = None
    for batch in batches:
        for which, total, *taken in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if curve is None or which != current:
                if curve is not None:
                    yield _batch(str(current), curve.estimate())
                curve, current = KaplanMeier(total), which
            curve.take(*taken)
    if curve is not None:
        yield _batch(str(current), curve.estimate())


def _batch(which: str, found: Estimate) -> pa.RecordBatch:
    row: dict[str, Any] = {name: getattr(found, name) for name in found.__slots__}
    return pa.RecordBatch.from_pylist([{"which": which, **row}], schema=_ESTIMATES_ARROW)


def collected(frame: DataFrame) -> dict[str, Estimate]:
    """Collect the estimates by distribution."""
    return {row["which"]: _estimate(row) for row in frame.collect()}


NOTHING: Final = estimate(())
"""The estimate of a distribution without times."""


def _estimate(row: Row) -> Estimate:
    fields = row.asDict()
    del fields["which"]
    fields["percentiles"] = tuple(fields["percentiles"])
    fields["survival"] = tuple((time, share) for time, share in fields["survival"])
    return Estimate(**fields)
