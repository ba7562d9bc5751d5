"""Matches publications with Spark: each worker has the whole index, and the publications are split.

Matches are far more numerous than publications, so they are packed: one row per publication (`JUDGED`) with
the positions of its matches in the index. `pairs` unpacks them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from knowledge_manager.mission_table import MissionTable
from spark_analysis.graphs.index_shipping import ShippedIndex, judge_of
from spark_analysis.graphs.judge import Found
from spark_analysis.metrics.reading_search import bytes_of

PUBLICATIONS: Final = StructType(
    [StructField("number", LongType(), False), StructField("vector", BinaryType(), False)]
)
"""Input: vectors, and the numbers that identify their matches."""

JUDGED: Final = StructType(
    [
        StructField("number", LongType(), False),
        StructField("subscriptions", BinaryType(), False),
        StructField("undecided", BinaryType(), False),
        StructField("fault", StringType(), True),
    ]
)
"""One row per publication: positions of the matching subscriptions, four bytes each, ascending; those of the
undecided ones among them; and the reason if it could not be matched.
"""

PAIRS: Final = StructType(
    [
        StructField("number", LongType(), False),
        StructField("subscription", IntegerType(), False),
        StructField("undecided", BooleanType(), False),
    ]
)

POSITION: Final = np.dtype("<u4")

Arrow = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class FilterJob:
    """Publications to match with an index, and the folder for the matches."""

    index: Path
    publications: Path
    out: Path
    spark: SparkSession
    table: MissionTable
    as_rows: bool = False
    """Whether to write one row per match instead of one per publication."""


def judged(shipped: ShippedIndex, table: MissionTable) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `PUBLICATIONS` into their matches (`JUDGED`)."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                found = judge_of(shipped, table).judge(values_of(batch, "vector"))
                yield packed(batch["number"], found)

    return lambda publications: publications.select(*PUBLICATIONS.names).mapInArrow(judge, JUDGED)


def values_of(batch: pa.RecordBatch, column: str) -> list[Any]:
    return batch[column].to_pylist()


def pairs(judged_rows: DataFrame) -> DataFrame:
    """Unpack `JUDGED` rows into one row per match (`PAIRS`)."""
    return judged_rows.mapInArrow(unpacked, PAIRS)


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Convert batches of `JUDGED` to batches of `PAIRS`."""
    for batch in batches:
        ends, found = _unpacked(batch, "subscriptions")
        doubted_ends, doubted = _unpacked(batch, "undecided")
        of_row = np.repeat(np.arange(batch.num_rows), np.diff(ends))
        of_doubted = np.repeat(np.arange(batch.num_rows), np.diff(doubted_ends))
        flags = np.isin(_pair(of_row, found), _pair(of_doubted, doubted))
        numbers = np.array(values_of(batch, "number"), np.int64)[of_row]
        columns = [pa.array(numbers), pa.array(found.astype(np.int32)), pa.array(flags)]
        yield pa.RecordBatch.from_arrays(columns, names=PAIRS.names)


def _unpacked(batch: pa.RecordBatch, column: str) -> tuple[Any, Any]:
    """Return the end offsets of the positions of each row, and all positions."""
    ends, data = bytes_of(batch[column])
    return ends // POSITION.itemsize, np.frombuffer(data.tobytes(), POSITION)


def _pair(rows: Any, positions: Any) -> Any:
    """Return one integer for a row and a position."""
    return rows.astype(np.int64) << 32 | positions


def packed(numbers: Any, found: Found) -> pa.RecordBatch:
    """Return the matches of publications with these numbers as rows of `JUDGED`."""
    positions = found.positions.astype(POSITION, copy=False)
    doubted = np.concatenate([[0], np.cumsum(found.undecided)])
    columns = [
        numbers,
        _binary(found.ends, positions),
        _binary(doubted[found.ends], positions[found.undecided]),
        pa.array(found.faults, pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=JUDGED.names)


def _binary(ends: Any, positions: Any) -> Any:
    """Return a column of packed positions; `ends` starts with 0."""
    offsets = (POSITION.itemsize * ends).astype(np.int32)
    data: Any = np.ascontiguousarray(positions)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, buffers)
