"""In how many pieces the network is, and what time can reach across them.

A *piece* is a set of nodes that are connected over contacts at one moment. A sparse network is in many; what
joins them is time: a *journey* goes over contacts one after the other, each used no earlier than the one
before, and waits at nodes in between. Both follow from the contacts alone, whatever was sent.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DoubleType, IntegerType, StructField, StructType

PIECES = StructType(
    [
        StructField("sample", IntegerType(), False),
        StructField("pieces", IntegerType(), False),
        StructField("largest", IntegerType(), False),
        StructField("alone", IntegerType(), False),
    ]
)
"""At each sample: how many pieces, the nodes of the largest one, and how many nodes are on their own."""

ARRIVALS = StructType(
    [
        StructField("source", IntegerType(), False),
        StructField("target", IntegerType(), False),
        StructField("arrival_ms", DoubleType(), False),
    ]
)
"""The earliest moment at which something that the source had at the beginning can be at the target."""

Contact = tuple[int, int, float, float]
"""(a, b, begin_ms, end_ms)"""


def pieces_over_time(nodes: int, every_ms: int, end_ms: int) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `contacts` into `PIECES` at the moments 0, every_ms, … before end_ms.

    A moment at which nobody meets anybody is a row too: every node is a piece.
    """
    samples = max(1, -(-end_ms // every_ms))

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [
                {"sample": row["sample"], **_sizes(nodes, zip(row["a"], row["b"], strict=True))}
                for row in batch.to_pylist()
            ]
            kinds = pa.schema([(name, pa.int32()) for name in PIECES.names])
            yield pa.RecordBatch.from_pylist(rows, schema=kinds)

    def transform(contacts: DataFrame) -> DataFrame:
        first = F.ceil(F.col("begin_ms") / every_ms).cast("int")
        last = F.least(F.floor(F.col("end_ms") / every_ms), F.lit(samples - 1)).cast("int")
        met = contacts.where(first <= last).select(
            F.explode(F.sequence(first, last)).alias("sample"), "a", "b"
        )
        moments = contacts.sparkSession.range(samples).select(F.col("id").cast("int").alias("sample"))
        nobody = F.lit(None).cast("int")
        every = met.unionByName(moments.select("sample", nobody.alias("a"), nobody.alias("b")))
        together = every.groupBy("sample").agg(F.collect_list("a").alias("a"), F.collect_list("b").alias("b"))
        return together.mapInArrow(count, PIECES)

    return transform


def _sizes(nodes: int, edges: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Return the figures of one moment, by joining the ends of every edge."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in edges:
        parent[root(a)] = root(b)
    sizes: dict[int, int] = {}
    for node in list(parent):
        sizes[root(node)] = sizes.get(root(node), 0) + 1
    alone = nodes - len(parent)
    return {
        "pieces": len(sizes) + alone,
        "largest": max(sizes.values(), default=min(nodes, 1)),
        "alone": alone,
    }


def earliest_arrivals(
    contacts: Sequence[Contact], through: frozenset[int] | None = None
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of a frame of `node`s, the sources, into `ARRIVALS` at everybody else.

    Only nodes in `through` carry for others (None: everybody does). A transfer takes no time, so these are
    bounds that no protocol beats. The contacts are the small side and go to the workers with the code.
    """

    def reach(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        meetings = _meetings(contacts)
        for batch in batches:
            found = [
                (source, target, at_ms)
                for source in batch["node"].to_pylist()
                for target, at_ms in sorted(_arrivals(meetings, int(source or 0), through).items())
                if target != source
            ]
            columns: list[pa.Array[Any]] = [
                pa.array([row[0] for row in found], pa.int32()),
                pa.array([row[1] for row in found], pa.int32()),
                pa.array([row[2] for row in found], pa.float64()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=ARRIVALS.names)

    def transform(sources: DataFrame) -> DataFrame:
        return sources.select("node").mapInArrow(reach, ARRIVALS)

    return transform


def _meetings(contacts: Iterable[Contact]) -> dict[int, list[tuple[int, float, float]]]:
    meetings: dict[int, list[tuple[int, float, float]]] = {}
    for a, b, begin_ms, end_ms in contacts:
        meetings.setdefault(a, []).append((b, begin_ms, end_ms))
        meetings.setdefault(b, []).append((a, begin_ms, end_ms))
    return meetings


def _arrivals(
    meetings: dict[int, list[tuple[int, float, float]]], source: int, through: frozenset[int] | None
) -> dict[int, float]:
    """Settle nodes in the order in which they can be reached (Dijkstra; waiting never makes it earlier)."""
    settled: dict[int, float] = {}
    waiting = [(0.0, source)]
    while waiting:
        at_ms, node = heapq.heappop(waiting)
        if node in settled:
            continue
        settled[node] = at_ms
        if node != source and through is not None and node not in through:
            continue
        for other, begin_ms, end_ms in meetings.get(node, ()):
            if other not in settled and end_ms >= at_ms:
                heapq.heappush(waiting, (max(at_ms, begin_ms), other))
    return settled
