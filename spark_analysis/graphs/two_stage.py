"""The chapter's cluster (§5.3.5): a front stage finds the shards that a publication needs, and each of those
is visited once.

Subscriptions are split over shards by a plan. The front stage holds subscriptions that contain them (roots or
mergers), each with its shard; without a front every publication visits every shard. The result equals that of
one index but takes more work, so this is for an index that is larger than a worker, and for the chapter's
figures.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from knowledge_manager.mission_table import MissionTable
from spark_analysis.graphs.filter_batch import JUDGED, POSITION, PUBLICATIONS, packed, values_of
from spark_analysis.graphs.index_shipping import ShippedIndex, judge_of

SHARD: Final = "shard"
"""Array of the front stage: the shard of each entry's members."""

ROUTED: Final = StructType(
    [
        StructField("number", LongType(), False),
        StructField("vector", BinaryType(), True),
        StructField("shard", IntegerType(), False),
        StructField("fault", StringType(), True),
    ]
)
"""One row per publication and required shard; one without a vector if it needs none."""

_GATHERED: Final = StructType(
    [
        StructField("number", LongType(), False),
        *(StructField(name, ArrayType(BinaryType()), False) for name in ("subscriptions", "undecided")),
        StructField("fault", StringType(), True),
    ]
)


@dataclass(frozen=True, slots=True)
class ShippedPlan:
    """The indexes of a plan, shipped to workers."""

    shards: tuple[ShippedIndex, ...]
    front: ShippedIndex | None = None


def judged_in_stages(plan: ShippedPlan, table: MissionTable) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `PUBLICATIONS` into their matches (`JUDGED`), by shards."""

    def route(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers, vectors = values_of(batch, "number"), values_of(batch, "vector")
            needed, faults = _needed(plan, table, vectors)
            rows: list[tuple[Any, ...]] = [
                (number, vector, shard, None)
                for number, vector, shards in zip(numbers, vectors, needed, strict=True)
                for shard in shards
            ]
            rows += [
                (number, None, number % len(plan.shards), fault)
                for number, shards, fault in zip(numbers, needed, faults, strict=True)
                if not len(shards)
            ]
            yield _batch(rows, ROUTED)

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            of_row = np.array(values_of(batch, "shard"))
            for shard in np.unique(of_row):
                yield from _by_shard(plan.shards[shard], table, batch.filter(pa.array(of_row == shard)))

    def transform(publications: DataFrame) -> DataFrame:
        routed = publications.select(*PUBLICATIONS.names).mapInArrow(route, ROUTED)
        apart = routed.repartitionById(len(plan.shards), F.col("shard"))
        gathered = (
            apart.mapInArrow(judge, JUDGED)
            .groupBy("number")
            .agg(
                F.collect_list("subscriptions").alias("subscriptions"),
                F.collect_list("undecided").alias("undecided"),
                F.min("fault").alias("fault"),
            )
        )
        return gathered.select(*_GATHERED.names).mapInArrow(_joined, JUDGED)

    return transform


def _needed(
    plan: ShippedPlan, table: MissionTable, vectors: Sequence[bytes]
) -> tuple[list[Any], Sequence[str | None]]:
    """Return, for each publication, the required shards and the reason if it could not be matched."""
    if plan.front is None:
        return [range(len(plan.shards))] * len(vectors), [None] * len(vectors)
    front = judge_of(plan.front, table)
    found = front.judge(vectors)
    shards = front.arrays[SHARD][found.positions]
    needed = [np.unique(shards[a:b]).tolist() for a, b in zip(found.ends[:-1], found.ends[1:], strict=True)]
    return needed, found.faults


def _by_shard(shard: ShippedIndex, table: MissionTable, part: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    rows = list(zip(*(values_of(part, name) for name in ("number", "vector", "fault")), strict=True))
    valid = [(number, vector) for number, vector, _ in rows if vector is not None]
    if valid:
        found = judge_of(shard, table).judge([vector for _, vector in valid])
        yield packed(pa.array([number for number, _ in valid]), found)
    nothing = [(number, b"", b"", fault) for number, vector, fault in rows if vector is None]
    if nothing:
        yield _batch(nothing, JUDGED)


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge the matches of the shards by publication."""
    for batch in batches:
        columns = [values_of(batch, name) for name in _GATHERED.names]
        yield _batch(
            [
                (number, _rising(found), _rising(doubted), fault)
                for number, found, doubted, fault in zip(*columns, strict=True)
            ],
            JUDGED,
        )


def _rising(parts: Sequence[bytes]) -> bytes:
    return np.sort(np.frombuffer(b"".join(parts), POSITION)).tobytes()


def _batch(rows: Sequence[tuple[Any, ...]], schema: StructType) -> pa.RecordBatch:
    from pyspark.sql.pandas.types import to_arrow_schema

    columns = list(zip(*rows, strict=True)) or [()] * len(schema.names)
    types = to_arrow_schema(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=schema.names)
