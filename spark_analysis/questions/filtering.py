"""Source filtering: what the watchdogs suppressed at the source.

Without a filter at the source every reading would be a notification vector on the air. The length of that
vector follows from the reading: 6 + k + 2F bytes for k values and F bytes of feature mask
(docs/reference/vector-format.md). The saved bytes count one transmission of each suppressed vector, from the
publisher to the first mediator, without envelope and without copies: a lower bound.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.catalogue.evidence import ReadingCounts
from spark_analysis.number_format import bytes_text, share_text, time_text
from spark_analysis.question import Nodes, Question, RunContext, Section
from spark_analysis.rendering.html import figure, paragraph

VECTOR_HEADER_BYTES: Final = 6


@dataclass(frozen=True, slots=True)
class Filtering:
    """Readings that the watchdogs filtered, released and suppressed (`filter_savings`)."""

    judged: int
    released: int
    kept: int
    unasked: int
    suppressed: int
    notifications: int
    share_kept: float | None
    vector_bytes_judged: int
    vector_bytes_kept: int
    radio_s_kept: float | None
    mean_cost_us: float | None


def filter_savings(filter_decisions: DataFrame, *by: str) -> DataFrame:
    """Count readings judged, released and kept, the vector bytes of all and of kept ones, and the computing
    cost, by `by`.

    `unasked` counts readings that were kept because no subscription was installed yet; `suppressed` those
    that matched but were held back by hysteresis or a minimum interval.
    """
    kept = F.col("released") == 0
    vector_bytes = F.lit(VECTOR_HEADER_BYTES) + F.length("values") + 2 * F.length("attributes")
    return filter_decisions.groupBy(*by).agg(
        F.count("*").alias("judged"),
        F.count(F.when(~kept, True)).alias("released"),
        F.count(F.when(kept, True)).alias("kept"),
        F.count(F.when(kept & (F.col("installed") == 0), True)).alias("unasked"),
        F.count("suppressed").alias("suppressed"),
        F.coalesce(F.sum("released"), F.lit(0)).alias("notifications"),
        F.coalesce(F.sum(vector_bytes), F.lit(0)).alias("vector_bytes_judged"),
        F.coalesce(F.sum(F.when(kept, vector_bytes)), F.lit(0)).alias("vector_bytes_kept"),
        F.coalesce(F.sum("cost_us"), F.lit(0.0)).alias("cost_us"),
    )


def collect(context: RunContext) -> Filtering:
    rows = context.run.table("filter_decisions").transform(filter_savings, "node").collect()
    return filtering_from(rows, context.nodes, context.run.manifest.radio_rates())


def filtering_from(rows: Iterable[Row], nodes: Nodes, rates: Mapping[str, float]) -> Filtering:
    """Sum the rows of `filter_savings`. `rates` are bytes per second of the radio by group; without them the
    time on the air is unknown.
    """
    counts = ("judged", "released", "kept", "unasked", "suppressed", "notifications")
    sizes = ("vector_bytes_judged", "vector_bytes_kept")
    sums = dict.fromkeys((*counts, *sizes), 0)
    cost_us, on_air = 0.0, []
    for row in rows:
        for name in sums:
            sums[name] += row[name]
        cost_us += row["cost_us"]
        rate = rates.get(nodes[row["node"]]["group"]) if row["node"] in nodes else None
        if rate and row["kept"]:
            on_air.append(row["vector_bytes_kept"] / rate)
    judged = sums["judged"]
    return Filtering(
        **sums,
        share_kept=ReadingCounts(judged, sums["kept"]).share,
        radio_s_kept=sum(on_air) if on_air else None,
        mean_cost_us=cost_us / judged if judged else None,
    )


def sections(filtering: Filtering, analysis: Analysis) -> Iterable[Section]:
    if filtering.judged:
        yield Section(
            place=60,
            id="filter",
            title="Source filtering",
            html=paragraph(_text(filtering)) + figure(_figure(filtering)),
            is_half=True,
        )


def _text(filtering: Filtering) -> str:
    return (
        f"Watchdogs filtered {filtering.judged:,} readings and suppressed "
        f"{share_text(filtering.share_kept)} of them at the source. This saved "
        f"{bytes_text(filtering.vector_bytes_kept)} of {bytes_text(filtering.vector_bytes_judged)}, or "
        f"{time_text(filtering.radio_s_kept)} on the air, counted as bare vectors sent once."
    )


def _figure(filtering: Filtering) -> str:
    """Draw the outcome of the readings as one bar."""
    from spark_analysis.rendering.drawing import (
        FOUR,
        HALF_WIDTH_IN,
        INK,
        ONE,
        THREE,
        TWO,
        canvas,
        styled,
        svg,
    )

    no_match = filtering.kept - filtering.unasked - filtering.suppressed
    parts = [
        (filtering.released, "released", ONE),
        (no_match, "suppressed: no installed subscription matched", THREE),
        (filtering.unasked, "suppressed: no subscription was installed", FOUR),
        (filtering.suppressed, "held back by hysteresis or interval", TWO),
    ]
    with styled():
        chart, axes = canvas(1.9, HALF_WIDTH_IN)
        left = 0
        for count, name, colour in parts:
            if count:
                axes.barh([0], [count], left=left, height=0.6, color=colour, label=f"{name} ({count:,})")
                left += count
        axes.set_xlim(0, max(left, 1))
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("readings")
        if left:
            axes.legend(
                frameon=False,
                loc="lower left",
                bbox_to_anchor=(-0.01, 0.95),
                labelcolor=INK,
                handlelength=1,
            )
        return svg(
            chart,
            "filtering",
            "Readings released and suppressed by the watchdogs",
            "One bar: " + ", ".join(f"{name} {count}" for count, name, _ in parts if count) + ".",
        )


FILTERING: Final = Question(name="filtering", place=60, collect=collect, sections=sections)
