"""Buffers: copies of notifications held by all devices, and how far notifications spread.

A device holds what its engines hold together. Its publisher and its mediator have a buffer each, so a message
of its own takes space in both; it still counts as one device with a copy.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.devices import Devices, with_device
from spark_analysis.metrics.ordering import in_order
from spark_analysis.number_format import bytes_text, number_text
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.remaining_copies import GAINS
from spark_analysis.rendering.html import figure, paragraph


@dataclass(frozen=True, slots=True)
class Holding:
    """Copies of notifications that all nodes hold at the end of each bin, and their bytes.

    `degree` is the replication degree: the devices that had ever held a copy, per notification published so
    far, including the source.
    """

    bin_s: float
    copies: tuple[int, ...]
    bytes: tuple[int, ...]
    degree: tuple[float | None, ...]


def held_over_time(buffers: DataFrame, bin_ms: int) -> DataFrame:
    """Return, for each bin with changes, what all nodes together hold at its end.

    `notifications` counts copies. A bin without a row equals the one before.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms", "row")
    in_time = Window.orderBy("bin").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    numbered = buffers.withColumn("row", F.monotonically_increasing_id())
    changes = numbered.select(
        F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"),
        *(
            (F.col(name) - F.coalesce(F.lag(name).over(by_node), F.lit(0))).alias(name)
            for name in ("notifications", "notification_bytes")
        ),
    )
    sums = changes.groupBy("bin").agg(
        F.sum("notifications").alias("notifications"), F.sum("notification_bytes").alias("notification_bytes")
    )
    return sums.select(
        "bin",
        F.sum("notifications").over(in_time).alias("notifications"),
        F.sum("notification_bytes").over(in_time).alias("notification_bytes"),
    ).orderBy("bin")


def buffer_use(buffers: DataFrame, devices: Devices, end_ms: int) -> DataFrame:
    """Return, for each device, the observed time, the integral of held items over time (items × milliseconds)
    and the peaks in items and bytes.

    Of several rows at one time the last one of each engine counts, so that states without duration are
    ignored.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms", "row")
    counts = ("notifications", "notification_bytes")
    changes = (
        buffers.withColumn("row", F.monotonically_increasing_id())
        .select(
            "node",
            "at_ms",
            *((F.col(name) - F.coalesce(F.lag(name).over(by_node), F.lit(0))).alias(name) for name in counts),
        )
        .transform(with_device, devices, "node", "device")
        .groupBy("device", "at_ms")
        .agg(*(F.sum(name).alias(name) for name in counts))
    )
    by_device = Window.partitionBy("device").orderBy("at_ms")
    lasting = changes.select(
        "device",
        (F.coalesce(F.lead("at_ms").over(by_device), F.lit(end_ms)) - F.col("at_ms")).alias("for_ms"),
        *(F.sum(name).over(by_device).alias(name) for name in counts),
    ).where(F.col("for_ms") > 0)
    return lasting.groupBy(F.col("device").alias("node")).agg(
        F.sum("for_ms").alias("watched_ms"),
        F.sum(F.col("notifications") * F.col("for_ms")).alias("item_ms"),
        F.max("notifications").alias("peak_items"),
        F.max("notification_bytes").alias("peak_bytes"),
    )


def copies_over_time(messages: DataFrame, devices: Devices, bin_ms: int) -> DataFrame:
    """Count, for each bin, the notifications published in it and the devices that got a first copy of any
    notification, sources included.

    The ratio of their running sums is the replication degree so far.
    """
    made = F.col("device") == F.col("source")
    return (
        _held_by(messages, devices)
        .groupBy(F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"))
        .agg(F.count("*").alias("copies"), F.count(F.when(made, True)).alias("notifications"))
        .transform(in_order, "bin")
    )


def replication_degree(messages: DataFrame, devices: Devices) -> DataFrame:
    """Return, for each notification, the devices that ever held a copy, its source included."""
    return (
        _held_by(messages, devices).groupBy("origin", "number").agg(F.count("*").cast("int").alias("holders"))
    )


def _held_by(messages: DataFrame, devices: Devices) -> DataFrame:
    """Return one row per notification and device that held it, with the first time."""
    holding = messages.where(F.col("kind").isin(*GAINS) & (F.col("type") == "notification"))
    return (
        holding.transform(with_device, devices, "node", "device")
        .transform(with_device, devices, "origin", "source")
        .groupBy("origin", "number", "source", "device")
        .agg(F.min("at_ms").alias("at_ms"))
    )


def collect(context: RunContext) -> Holding:
    bin_ms, run = context.bin_ms, context.run
    held_rows = run.table("buffers").transform(held_over_time, bin_ms).collect()
    spread_rows = run.table("messages").transform(copies_over_time, context.devices, bin_ms).collect()
    changes = {row["bin"]: row for row in held_rows}
    spread = {row["bin"]: row for row in spread_rows}
    copies, sizes, degrees = [0], [0], []
    holders = published = 0
    for bin_ in range(-(-context.end_ms // bin_ms)):
        held = changes.get(bin_)
        copies.append(copies[-1] if held is None else held["notifications"])
        sizes.append(sizes[-1] if held is None else held["notification_bytes"])
        new = spread.get(bin_)
        if new is not None:
            holders, published = holders + new["copies"], published + new["notifications"]
        degrees.append(holders / published if published else None)
    return Holding(bin_ms / 1000, tuple(copies[1:]), tuple(sizes[1:]), tuple(degrees))


def sections(holding: Holding, analysis: Analysis) -> Iterable[Section]:
    yield Section(
        place=120,
        id="carried",
        title="Copies held",
        html=paragraph(_copies_text(holding)) + figure(_copies_figure(holding)),
        is_half=True,
    )
    yield Section(
        place=130,
        title="Replication degree",
        html=paragraph(_degree_text(holding)) + figure(_degree_figure(holding)),
        is_half=True,
    )


def _copies_text(holding: Holding) -> str:
    return (
        f"All nodes together held up to {max(holding.copies, default=0):,} copies of notifications, "
        f"{bytes_text(max(holding.bytes, default=0))}."
    )


def _degree_text(holding: Holding) -> str:
    known = [degree for degree in holding.degree if degree is not None]
    if not known:
        return "No notifications were published."
    return (
        f"By the end a notification had been held by {known[-1]:.1f} devices on average, including its "
        "source and devices that have discarded it since."
    )


def _copies_figure(holding: Holding) -> str:
    """Draw the copies of notifications that all nodes together held."""
    from spark_analysis.rendering.drawing import ONE, area, half_chart_over_time, svg

    hours = [(i + 1) * holding.bin_s / 3600 for i in range(len(holding.copies))]
    with half_chart_over_time(len(holding.copies) * holding.bin_s) as (chart, axes):
        area(axes, hours, holding.copies, ONE)
        axes.set_ylabel("copies held")
        return svg(
            chart,
            "holding",
            "Copies of notifications held over time",
            f"One line: up to {max(holding.copies, default=0)} copies, "
            f"{bytes_text(max(holding.bytes, default=0))}.",
        )


def _degree_figure(holding: Holding) -> str:
    """Draw the replication degree over time."""
    from spark_analysis.rendering.drawing import FOUR, area, half_chart_over_time, svg

    known = [
        ((i + 1) * holding.bin_s / 3600, degree)
        for i, degree in enumerate(holding.degree)
        if degree is not None
    ]
    with half_chart_over_time(len(holding.degree) * holding.bin_s) as (chart, axes):
        area(axes, [hour for hour, _ in known], [degree for _, degree in known], FOUR)
        axes.set_ylabel("devices per notification")
        return svg(
            chart,
            "degree",
            "Devices that had held a copy, per notification",
            f"One line that ends at {number_text(known[-1][1] if known else None)} devices per notification.",
        )


HOLDING: Final = Question(name="holding", place=110, collect=collect, sections=sections)
