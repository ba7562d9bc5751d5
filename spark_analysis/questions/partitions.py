"""Partitions of the network over time, and which devices could reach each other across them.

A *partition* is a set of devices that are connected over contacts at one moment. A sparse network has many. A
*journey* connects them over time: it uses contacts one after the other, each no earlier than the one before,
and waits at devices in between. Both follow from contacts and outages alone
(`spark_analysis.metrics.outages`). A device that is down is a partition of its own.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DoubleType, IntegerType, LongType, StructField, StructType

from spark_analysis.answers import Analysis
from spark_analysis.metrics.outages import Contact, Outages, outages_of
from spark_analysis.number_format import share_text, time_text
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.rendering.html import figure, paragraph

PIECES = StructType(
    [
        StructField("sample", IntegerType(), False),
        StructField("pieces", IntegerType(), False),
        StructField("largest", IntegerType(), False),
        StructField("alone", IntegerType(), False),
        StructField("reachable", LongType(), False),
    ]
)
"""Per sample: number of partitions, devices in the largest, isolated devices, and ordered pairs (source,
target) connected by a journey from the start of the run.
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
"""The earliest time at which data that the source had at the start can be at the target."""

NO_OUTAGES: Final = Outages({}, ())


@dataclass(frozen=True, slots=True)
class Partitions:
    """Number of partitions at the times 0, `every_s`, …, and the devices in the largest one.

    A device that is down is a partition of its own. `reachable` counts the ordered pairs of devices, of all
    `pairs`, that journeys had connected by then.
    """

    every_s: float
    pairs: int
    pieces: tuple[int, ...]
    largest: tuple[int, ...]
    reachable: tuple[int, ...]


def pieces_over_time(
    devices: int, every_ms: int, end_ms: int, outages: Outages = NO_OUTAGES
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `contacts` into `PIECES` at 0, every_ms, … before end_ms.

    The contacts are scanned once in the order of their start; only current ones are kept in memory.
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
        # A dummy row ensures that there is a partition to scan even without contacts.
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
    """Yield the network at each time; contacts are sorted by their start."""
    coming = iter(contacts)
    following = next(coming, None)
    for at_ms in moments:
        while following is not None and following[2] <= at_ms:
            network.meet(*following)
            following = next(coming, None)
        network.forget_before(at_ms)
        yield network


class Network:
    """The current contacts, and which sources each node has been reached by since the start.

    Transfers take no time here, so all nodes of a partition have been reached by the same sources. If two
    nodes with different sets meet, two partitions merge. A set is an integer with one bit per node.
    """

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.reachable = 0
        """Ordered pairs (source, target) that something has been able to travel so far."""
        self._near: dict[int, dict[int, float]] = {}
        self._ends: list[tuple[float, int, int]] = []
        self._knows: dict[int, int] = {}

    def meet(self, a: int, b: int, begin_ms: float, end_ms: float) -> None:
        """Add a contact; contacts must be added in the order of their start."""
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
        """Remove the contacts that ended before this time."""
        while self._ends and self._ends[0][0] < at_ms:
            end_ms, a, b = heapq.heappop(self._ends)
            if self._near[a].get(b) == end_ms:
                del self._near[a][b]
                del self._near[b][a]

    def figures(self) -> dict[str, int]:
        """Return the row of `PIECES` for this time, without its number."""
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
    """Return the transformation of a frame of source `node`s into `ARRIVALS` at all other nodes.

    Only nodes in `through` forward (None: all do). Transfers take no time, so the results are lower bounds
    for every protocol. The contacts are shipped to the workers with the code.
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
    """Settle nodes in the order of their arrival times (Dijkstra)."""
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


def collect(context: RunContext) -> Partitions:
    run, every_ms, devices = context.run, context.bin_ms, context.devices.count
    outages = outages_of(run.small_table("node_state"), run.manifest.partitions, context.nodes.values())
    over_time = pieces_over_time(devices, every_ms, context.end_ms, outages)
    rows = run.table("contacts").transform(over_time).collect()
    rows.sort(key=lambda row: int(row["sample"]))
    return Partitions(
        every_s=every_ms / 1000,
        pairs=devices * (devices - 1),
        pieces=tuple(row["pieces"] for row in rows),
        largest=tuple(row["largest"] for row in rows),
        reachable=tuple(row["reachable"] for row in rows),
    )


def sections(partitions: Partitions, analysis: Analysis) -> Iterable[Section]:
    yield Section(
        place=100,
        id="pieces",
        title="Partitions",
        html=paragraph(_partitions_text(partitions)) + figure(_partitions_figure(partitions)),
        is_half=True,
    )
    yield Section(
        place=110,
        title="Reachability over time",
        html=paragraph(_reach_text(partitions)) + figure(_reach_figure(partitions)),
        is_half=True,
    )


def _partitions_text(partitions: Partitions) -> str:
    counts = partitions.pieces
    if not counts:
        return "The run has no devices."
    return (
        f"Sampled every {time_text(partitions.every_s)}, the network had {sum(counts) / len(counts):.1f} "
        "partitions on average; a device that is isolated or down is a partition of its own."
    )


def _reach_text(partitions: Partitions) -> str:
    if not partitions.reachable:
        return "The run has no devices."
    half = next(
        (i for i, reached in enumerate(partitions.reachable) if reached * 2 >= partitions.pairs), None
    )
    text = (
        "If every device carried everything from contact to contact, data that a device had at the start "
        f"could have reached {share_text(partitions.reachable[-1] / max(partitions.pairs, 1))} of the others "
        "by the end"
    )
    return f"{text}, and half of them after {time_text(half * partitions.every_s)}." if half else f"{text}."


def _partitions_figure(partitions: Partitions) -> str:
    """Draw the number of partitions, and the size of the largest."""
    from spark_analysis.rendering.drawing import INK, ONE, TWO, half_chart_over_time, svg

    hours = [i * partitions.every_s / 3600 for i in range(len(partitions.pieces))]
    with half_chart_over_time(len(partitions.pieces) * partitions.every_s) as (chart, axes):
        axes.plot(hours, partitions.pieces, color=TWO, linewidth=1.2, label="partitions")
        axes.plot(hours, partitions.largest, color=ONE, linewidth=1.2, label="devices in the largest")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, labelcolor=INK)
        return svg(
            chart,
            "pieces",
            "Partitions of the network over time",
            f"Two lines: between {min(partitions.pieces, default=0)} and {max(partitions.pieces, default=0)} "
            f"partitions; the largest has up to {max(partitions.largest, default=0)} devices.",
        )


def _reach_figure(partitions: Partitions) -> str:
    """Draw the share of device pairs that journeys connect."""
    from spark_analysis.rendering.drawing import THREE, area, half_chart_over_time, share_axis, svg

    hours = [i * partitions.every_s / 3600 for i in range(len(partitions.reachable))]
    shares = [reached / max(partitions.pairs, 1) for reached in partitions.reachable]
    with half_chart_over_time(len(partitions.pieces) * partitions.every_s) as (chart, axes):
        area(axes, hours, shares, THREE)
        share_axis(axes)
        axes.set_ylabel("ordered pairs")
        return svg(
            chart,
            "reach",
            "Pairs of devices connected by journeys",
            f"A rising line that ends at {share_text(shares[-1] if shares else None)} of all ordered pairs.",
        )


PARTITIONS: Final = Question(name="pieces", place=100, collect=collect, sections=sections)
