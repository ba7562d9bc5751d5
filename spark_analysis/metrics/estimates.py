"""Kaplan–Meier estimates computed by Spark, by the definition in `spark_analysis.survival`.

Spark counts and sorts equal times; the curve is computed by the same code as in sweeps, the live view and
`dens contacts`, in one pass with bounded memory.
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DoubleType, LongType, StringType, StructField, StructType

from spark_analysis.survival import Estimate, KaplanMeier, estimate

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
