"""Counts over streams: a language's learner processes the readings of each source in order.

A learner (`plugins.authoring.streams`) is shipped to Spark's workers with the readings of one source; the
counts of sources are summed, so any number of runs is one pass.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from plugins.authoring.streams import StreamLearner, StreamReading
from spark_analysis.errors import LearningError
from spark_analysis.languages import mission_table
from spark_analysis.run import Run

READINGS: Final = StructType(
    [
        StructField("stream", StringType(), False),
        StructField("node", IntegerType(), False),
        StructField("event", IntegerType(), False),
        StructField("event_number", IntegerType(), False),
        StructField("second", LongType(), False),
        StructField("attributes", BinaryType(), False),
        StructField("values", BinaryType(), False),
    ]
)
"""One row per reading; `stream` identifies the run or file."""
COUNTS: Final = StructType(
    [StructField("what", StringType(), False), StructField("times", LongType(), False)]
)


def readings_of_runs(runs: Sequence[Run], check: int) -> list[DataFrame]:
    """Return the readings of runs, which must all have the mission table with this check."""
    for run in runs:
        if mission_table(run.manifest).check != check:
            raise LearningError(f"{run.path}: has another mission table than the document")
    return [
        run.table("filter_decisions").select(
            F.lit(str(run.path)).alias("stream"),
            "node",
            "event",
            "event_number",
            F.floor(F.col("at_ms") / 1000).cast("long").alias("second"),
            "attributes",
            "values",
        )
        for run in runs
    ]


def readings_of_tables(
    spark: SparkSession, tables: Mapping[str, Sequence[StreamReading]], feature_bytes: int
) -> list[DataFrame]:
    """Return readings that were read from files, by file name."""
    rows = [
        (
            name,
            one.source,
            one.event,
            one.number,
            one.second,
            sum(1 << index for index in one.values).to_bytes(feature_bytes, "big"),
            bytes(one.values[index] for index in sorted(one.values)),
        )
        for name, readings in tables.items()
        for one in readings
    ]
    return [spark.createDataFrame(rows, READINGS)] if rows else []


def learnt_counts(frames: Sequence[DataFrame], learner: StreamLearner) -> dict[str, int]:
    """Return the learner's counts over all streams."""
    if not frames:
        raise LearningError("no readings to learn from")

    def count(stream: pd.DataFrame) -> pd.DataFrame:
        ordered = stream.sort_values(["second", "event", "event_number"], kind="stable")
        found = learner.count([_reading(row) for row in ordered.itertuples(index=False)])
        return pd.DataFrame({"what": list(found), "times": list(found.values())}).astype({"times": "int64"})

    events = sorted(learner.events)
    together = reduce(DataFrame.unionByName, frames).where(F.col("event").isin(events))
    counted = together.groupBy("stream", "node").applyInPandas(count, COUNTS)
    return {
        row["what"]: row["times"]
        for row in counted.groupBy("what").agg(F.sum("times").alias("times")).collect()
    }


def _reading(row: Any) -> StreamReading:
    mask = int.from_bytes(row.attributes, "big")
    indexes = [index for index in range(mask.bit_length()) if mask >> index & 1]
    values = dict(zip(indexes, bytes(row.values), strict=True))
    return StreamReading(int(row.node), int(row.event), int(row.event_number), int(row.second), values)
