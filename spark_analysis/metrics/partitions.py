"""In how many pieces the network is, and what time can reach across them.

A *piece* is a set of devices that are connected over contacts at one moment. A sparse network is in many;
what joins them is time: a *journey* goes over contacts one after the other, each used no earlier than the one
before, and waits at devices in between. Both follow from contacts and outages (`spark_analysis.outages`),
whatever was sent. A device that is down is a piece of its own.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DoubleType, IntegerType, LongType, StructField, StructType

from spark_analysis.outages import Contact, Outages

PIECES = StructType(
    [
        StructField("sample", IntegerType(), False),
        StructField("pieces", IntegerType(), False),
        StructField("largest", IntegerType(), False),
        StructField("alone", IntegerType(), False),
        StructField("reachable", LongType(), False),
    ]
)
"""At each sample: how many pieces, the devices of the largest one, how many are on their own, and how
many ordered pairs (source, target) time has joined: something that the source had at the beginning can be
there.
"""

_PIECES_ARROW: Final = pa.schema(
    {**{name: pa.int32() for name in ("sample", "pieces", "largest", "alone")}, "reachable": pa.int64()}
)

ARRIVALS = StructType(
    [
        StructField("source", IntegerType(), False),
        StructField("target", IntegerType(), False),
        StructField("arrival_ms", DoubleType(), False),
    ]
)
"""The earliest moment at which something that the source had at the beginning can be at the target."""

NO_OUTAGES: Final = Outages({}, ())


def pieces_over_time(
    devices: int, every_ms: int, end_ms: int, outages: Outages = NO_OUTAGES
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `contacts` into `PIECES` at the moments 0, every_ms, … before end_ms.

    A moment without any contact is a row too: every device is a piece. The contacts are gone through once, in
    the order in which they begin, and only those that last are kept in mind.
    """
    samples = max(1, -(-end_ms // every_ms))

    def watch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        moments = (sample * every_ms for sample in range(samples))
        contacts = (contact for batch in batches for contact in _contacts_in(batch))
        rows = [
            {"sample": sample, **network.figures()}
            for sample, network in enumerate(_watched(Network(devices), outages.talking(contacts), moments))
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=_PIECES_ARROW)

    def transform(contacts: DataFrame) -> DataFrame:
        met = contacts.select("a", "b", "begin_ms", "end_ms").where(F.col("begin_ms") < end_ms)
        # A row that is no contact makes sure that there is a part to go through even when nobody ever met.
        nothing = contacts.sparkSession.range(1).select(
            F.lit(-1).alias("a"),
            F.lit(-1).alias("b"),
            F.lit(-1.0).alias("begin_ms"),
            F.lit(-1.0).alias("end_ms"),
        )
        in_order = met.unionAll(nothing).coalesce(1).sortWithinPartitions("begin_ms")
        return in_order.mapInArrow(watch, PIECES)

    return transform


def _contacts_in(batch: pa.RecordBatch) -> Iterator[Contact]:
    columns: list[list[Any]] = [batch[name].to_pylist() for name in ("a", "b", "begin_ms", "end_ms")]
    return (contact for contact in zip(*columns, strict=True) if contact[0] >= 0)


def _watched(
    network: "Network", contacts: Iterable[Contact], moments: Iterable[float]
) -> Iterator["Network"]:
    """Yield the network as it is at each moment; contacts come in the order in which they begin."""
    coming = iter(contacts)
    following = next(coming, None)
    for at_ms in moments:
        while following is not None and following[2] <= at_ms:
            network.meet(*following)
            following = next(coming, None)
        network.forget_before(at_ms)
        yield network


class Network:
    """Who is in contact, and what everybody has heard of since the beginning.

    All nodes of a piece know the same, because a transfer takes no time here. So when two meet, either they
    know the same already or two pieces become one and all of it learns what the other part knew. What is
    known is a number with a bit for each node.
    """

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.reachable = 0
        """Ordered pairs (source, target) that something has been able to travel so far."""
        self._near: dict[int, dict[int, float]] = {}
        self._ends: list[tuple[float, int, int]] = []
        self._knows: dict[int, int] = {}

    def meet(self, a: int, b: int, begin_ms: float, end_ms: float) -> None:
        """Take a contact into account; contacts come in the order in which they begin."""
        self.forget_before(begin_ms)
        for one, other in ((a, b), (b, a)):
            near = self._near.setdefault(one, {})
            near[other] = max(end_ms, near.get(other, end_ms))
        heapq.heappush(self._ends, (end_ms, a, b))
        known = self._knows.get(a, 1 << a) | self._knows.get(b, 1 << b)
        if known != self._knows.get(a) or known != self._knows.get(b):
            for node in self._piece(a):
                before = self._knows.get(node, 1 << node)
                self.reachable += (known ^ before).bit_count()
                self._knows[node] = known

    def forget_before(self, at_ms: float) -> None:
        """Leave out the contacts that ended before this moment."""
        while self._ends and self._ends[0][0] < at_ms:
            end_ms, a, b = heapq.heappop(self._ends)
            if self._near[a].get(b) == end_ms:
                del self._near[a][b]
                del self._near[b][a]

    def figures(self) -> dict[str, int]:
        """Return the row of `PIECES` for this moment, its number left out."""
        seen: set[int] = set()
        sizes = []
        for node in self._near:
            if node not in seen and self._near[node]:
                piece = self._piece(node)
                seen |= piece
                sizes.append(len(piece))
        alone = self.nodes - len(seen)
        return {
            "pieces": len(sizes) + alone,
            "largest": max(sizes, default=min(self.nodes, 1)),
            "alone": alone,
            "reachable": self.reachable,
        }

    def _piece(self, node: int) -> set[int]:
        piece = {node}
        waiting = [node]
        while waiting:
            for other in self._near[waiting.pop()]:
                if other not in piece:
                    piece.add(other)
                    waiting.append(other)
        return piece


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
