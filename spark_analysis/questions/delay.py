"""Delay: how long expected deliveries take, and how delay depends on the number of transfers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.devices import Devices, with_device
from spark_analysis.metrics.delivery import pairs
from spark_analysis.metrics.ordering import in_order
from spark_analysis.number_format import (
    delivery_text,
    median_text,
    number_text,
    seconds,
    share_text,
    time_text,
)
from spark_analysis.pair_figures import DeliveryCounts
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.questions.delivery import kept_outcomes, pair_figures_of
from spark_analysis.rendering.html import figure, paragraph, scrolling, table


@dataclass(frozen=True, slots=True)
class HopsDelay:
    """Number and mean delay of the pairs that arrived over this number of transfers between devices."""

    hops: int
    delivered: int
    mean_s: float


@dataclass(frozen=True, slots=True)
class Delay:
    """Delays of pairs; defined in `pair_figures.py` and `survival.py`.

    Over all expected pairs, where missed and lost ones never arrive and open and withdrawn ones are censored:
    `median_s` and `within_s[i]`, the delay within which half and i % of them arrive (None if fewer do);
    `estimate`, the share that arrives within its lifetime; `watched_s`, the longest observation. Over
    delivered pairs only: mean, p50 to p99, the longest, and `quantiles_s[i]`.
    """

    delivered: int
    missed: int
    open: int
    estimate: float | None
    median_s: float | None
    watched_s: float | None
    within_s: tuple[float | None, ...]
    mean_s: float | None
    p50_s: float | None
    p90_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    quantiles_s: tuple[float, ...]
    by_hops: tuple[HopsDelay, ...]
    lost: int = 0
    withdrawn: int = 0


def delay_by_hops(pairs: DataFrame, devices: Devices) -> DataFrame:
    """Return the number of delivered pairs and their mean delay by transfers between devices.

    An engine inside a device communicates with its own mediator only, so its first or last step stays in the
    device and does not count.
    """
    delivered = pairs.where(F.col("delay_ms").isNotNull())
    for node in ("origin", "subscriber"):
        delivered = delivered.transform(with_device, devices, node, f"{node}_device").withColumn(
            "hops", F.col("hops") - (F.col(node) != F.col(f"{node}_device")).cast("int")
        )
    return (
        delivered.groupBy("hops")
        .agg(F.count("*").alias("delivered"), F.mean("delay_ms").alias("mean_ms"))
        .transform(in_order, "hops")
    )


def collect(context: RunContext) -> Delay:
    figures = context.once(pair_figures_of)
    everything, arrived = figures.delay, figures.delivered_delay
    return Delay(
        delivered=everything.known,
        missed=figures.counts.missed,
        open=figures.counts.open,
        lost=figures.counts.lost,
        withdrawn=figures.counts.withdrawn,
        estimate=figures.estimate,
        median_s=seconds(everything.median),
        watched_s=seconds(everything.longest),
        within_s=tuple(seconds(value) for value in everything.percentiles),
        mean_s=seconds(arrived.mean),
        p50_s=seconds(arrived.percentiles[50]),
        p90_s=seconds(arrived.percentiles[90]),
        p95_s=seconds(arrived.percentiles[95]),
        p99_s=seconds(arrived.percentiles[99]),
        max_s=seconds(arrived.longest_known),
        quantiles_s=tuple(value / 1000 for value in arrived.percentiles if value is not None),
        by_hops=tuple(
            HopsDelay(row["hops"], row["delivered"], row["mean_ms"] / 1000)
            for row in context.once(kept_outcomes)
            .transform(pairs)
            .transform(delay_by_hops, context.devices)
            .collect()
        ),
    )


def sections(delay: Delay, analysis: Analysis) -> Iterable[Section]:
    total = analysis.delivery.total
    yield Section(
        place=40,
        id="delay",
        title="Delay",
        html=paragraph(_text(delay, total))
        + figure(_figure(delay, total))
        + scrolling(_delay_table(delay))
        + scrolling(_hops_table(delay)),
    )


def _text(delay: Delay, total: DeliveryCounts) -> str:
    if not total.expected:
        return "No deliveries were expected."
    half = (
        f"half of all expected deliveries arrive within {time_text(delay.median_s)}"
        if delay.median_s is not None
        else f"half of all expected deliveries take {median_text(None, delay.watched_s)} or never arrive"
    )
    return (
        "From the event at the source to the application of the subscriber. "
        f"{delivery_text(total, delay.estimate)}. By the same estimate, which treats the "
        f"{delay.open + delay.withdrawn:,} open and withdrawn pairs as censored and the "
        f"{delay.missed + delay.lost:,} missed and lost ones as never arriving, {half}. The "
        "tables below cover delivered pairs only."
    )


def _delay_table(delay: Delay) -> str:
    figures = (delay.mean_s, delay.p50_s, delay.p90_s, delay.p95_s, delay.p99_s, delay.max_s)
    return table(
        "Delay of delivered pairs",
        ("delivered", "mean", "median", "90 %", "95 %", "99 %", "longest"),
        [(number_text(delay.delivered), *(time_text(value) for value in figures))],
    )


def _hops_table(delay: Delay) -> str:
    return table(
        "Delay by the number of transfers between devices from publisher to subscriber, regardless of radio "
        "hops; 0: both are in one device",
        ("transfers", "delivered", "share", "mean delay"),
        [
            (
                number_text(row.hops),
                number_text(row.delivered),
                share_text(row.delivered / delay.delivered),
                time_text(row.mean_s),
            )
            for row in delay.by_hops
        ],
    )


def _figure(delay: Delay, total: DeliveryCounts) -> str:
    """Draw the estimated share of all expected deliveries that arrive within a given delay."""
    from spark_analysis.rendering.drawing import ONE, TWO, canvas, share_axis, styled, svg, time_axis

    with styled():
        chart, axes = canvas(4.4)
        shortest_s = max(delay.watched_s or 0, 1) / 1000  # three decades
        reached = [(time_s, i / 100) for i, time_s in enumerate(delay.within_s) if time_s is not None]
        if reached and delay.watched_s is not None:
            reached.append((delay.watched_s, reached[-1][1] if delay.estimate is None else delay.estimate))
        times, shares = [max(time_s, shortest_s) for time_s, _ in reached], [share for _, share in reached]
        axes.plot(times, shares, color=ONE, drawstyle="steps-post")
        axes.fill_between(times, shares, step="post", color=ONE, alpha=0.12, linewidth=0)
        axes.axhline(total.ratio or 0, color=TWO, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.text(
            0.01,
            (total.ratio or 0) + 0.02,
            f"{share_text(total.ratio)} delivered by the end of the run, {total.open:,} pairs still open",
            transform=axes.get_yaxis_transform(),
            color=TWO,
            va="bottom",
        )
        if delay.median_s is not None:
            axes.plot([max(delay.median_s, shortest_s)], [0.5], "o", color=ONE, markersize=6)
            axes.annotate(
                f"median: {time_text(delay.median_s)}",
                (max(delay.median_s, shortest_s), 0.5),
                (10, -6),
                textcoords="offset points",
                va="top",
            )
        time_axis(axes, times, room=1.6)
        share_axis(axes)
        axes.set_xlabel("time from the event to the application")
        axes.set_ylabel("share of expected deliveries that arrive")
        return svg(
            chart,
            "delay",
            "Delay of expected deliveries",
            "A rising curve, the Kaplan–Meier estimate of the share of expected deliveries that arrive; "
            f"it ends at {share_text(delay.estimate)}. {share_text(total.ratio)} were delivered by the end "
            f"of the run, {total.open} pairs were still open. The median is "
            f"{median_text(delay.median_s, delay.watched_s)}.",
        )


DELAY: Final = Question(name="delay", place=30, collect=collect, sections=sections)
