"""Load of the nodes: buffer use, filtering and matching by group.

Figures of a group are collected per node and summed here: there are few nodes, and a join with them would be
another Spark job per figure.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.matching_figures import (
    COUNTED_SINCE,
    COUNTS,
    SUMMED,
    MatchingWork,
    sum_matching,
    total_matching,
)
from spark_analysis.number_format import NOT_KNOWN, bytes_text, number_text, time_text
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.questions.brokers import brokers_table
from spark_analysis.questions.buffers import buffer_use
from spark_analysis.rendering.html import scrolling, table
from spark_analysis.run import Run

COUNTED: Final = {
    "feature tests": "feature_tests",
    "memberships": "memberships",
    "aggregations": "aggregations",
    "pairs": "pairs",
    "rows": "rows",
}
"""Columns of the matching table, by their titles."""


@dataclass(frozen=True, slots=True)
class GroupLoad:
    """Buffer use and computing of the devices of one group; peaks are per device."""

    group: str
    nodes: int
    """Devices, regardless of their number of roles."""
    mean_items: float | None
    peak_items: int
    peak_bytes: int
    filter_s: float
    filter_us_per_reading: float | None
    matching: MatchingWork


def computing_cost(steps: DataFrame, *by: str) -> DataFrame:
    """Count steps and sum their cost by `by`; for `filter_decisions` a step is a reading."""
    return steps.groupBy(*by).agg(
        F.count("cost_us").alias("steps"), F.coalesce(F.sum("cost_us"), F.lit(0.0)).alias("total_us")
    )


def matching_by_node(matching_work: DataFrame) -> DataFrame:
    """Sum the matching work of each mediator."""
    named = F.col("number").isNotNull()
    return matching_work.groupBy("node").agg(
        *(F.sum(F.when(named, F.col(name))).alias(name) for name in SUMMED),
        F.sum(F.when(~named, F.col("cost_us"))).alias("late_us"),
    )


def matching_before_version_4(matches: DataFrame) -> DataFrame:
    """Sum the matching work of each mediator from traces before version 4, which have only a constant cost
    per match and nothing about notifications without matches.
    """
    found = F.count_distinct("origin", "number").alias("notifications")
    unknown = (F.lit(0).alias(name) for name in (*COUNTS, "late_us"))
    costly = matches.where(F.col("cost_us") > 0).groupBy("node")
    return costly.agg(found, F.count("*").alias("matches"), F.sum("cost_us").alias("cost_us")).select(
        "*", *unknown
    )


def collect(context: RunContext) -> tuple[GroupLoad, ...]:
    run, devices = context.run, context.devices
    used = run.table("buffers").transform(buffer_use, devices, context.end_ms).collect()
    costs = run.table("filter_decisions").transform(computing_cost, "node").collect()
    matched = matching_rows(run)
    members: dict[str, set[int]] = {}
    for node, row in context.nodes.items():
        members.setdefault(row["group"], set()).add(node)
    return tuple(
        load_of(
            group,
            len(own - devices.inside.keys()),
            [row for row in used if row["node"] in own],
            [row for row in costs if row["node"] in own],
            [row for row in matched if row["node"] in own],
        )
        for group, own in sorted(members.items())
    )


def total_matching_of(context: RunContext) -> MatchingWork:
    """Return the matching work of all groups."""
    return total_matching(load.matching for load in context.once(collect))


def matching_rows(run: Run) -> list[Row]:
    """Return the matching work of each mediator; empty if the trace has no data."""
    if run.manifest.schema_version < COUNTED_SINCE:
        return run.table("matches").transform(matching_before_version_4).collect()
    if not run.rows("matching_work"):
        return []
    return run.table("matching_work").transform(matching_by_node).collect()


def load_of(group: str, devices: int, used: list[Row], costs: list[Row], matched: list[Row]) -> GroupLoad:
    """Sum the rows of `buffer_use`, `computing_cost` and `matching_rows` of one group."""
    watched_ms = sum(row["watched_ms"] for row in used)
    readings = sum(row["steps"] for row in costs)
    filter_us = sum(row["total_us"] for row in costs)
    return GroupLoad(
        group=group,
        nodes=devices,
        mean_items=sum(row["item_ms"] for row in used) / watched_ms if watched_ms else None,
        peak_items=max((row["peak_items"] for row in used), default=0),
        peak_bytes=max((row["peak_bytes"] for row in used), default=0),
        filter_s=filter_us / 1e6,
        filter_us_per_reading=filter_us / readings if readings else None,
        matching=sum_matching(row.asDict() for row in matched),
    )


def sections(loads: tuple[GroupLoad, ...], analysis: Analysis) -> Iterable[Section]:
    tables = loads_table(loads) + brokers_table(analysis.brokers)
    yield Section(place=140, id="loads", title="Load of the nodes", html=scrolling(tables))


def loads_table(loads: tuple[GroupLoad, ...]) -> str:
    """Return the tables of buffers and computing, and of matching. Columns without data are left out, and so
    is the second table if it has none.
    """
    group = [load.group for load in loads]
    held = _known(
        {
            "group": group,
            "devices": [number_text(load.nodes) for load in loads],
            "held, mean": [number_text(load.mean_items) for load in loads],
            "held, peak": [number_text(load.peak_items) for load in loads],
            "peak size": [bytes_text(load.peak_bytes) for load in loads],
            "filtering": [_busy_text(load.filter_s, load.filter_us_per_reading) for load in loads],
            "per reading": [time_text(_micro(load.filter_us_per_reading)) for load in loads],
        }
    )
    matching = _known(
        {
            "matching": [time_text(load.matching.total_us / 1e6 or None) for load in loads],
            "per notification": [
                time_text(_micro(load.matching.each(load.matching.cost_us))) for load in loads
            ],
            **{
                title: [_counted_text(load.matching, name) for load in loads]
                for title, name in COUNTED.items()
            },
        }
    )
    computed = " Computing time is the sum over the nodes of the group, from their board profiles."
    caption = "Notifications in buffers; means and peaks are per device, over all its roles."
    if "filtering" in held:
        caption += computed
    tables = table(caption, tuple(held), list(zip(*held.values(), strict=True)))
    if loads and matching:
        caption = "Matching work per notification that a mediator matched."
        if "matching" in matching:
            caption += computed
        columns = {"group": group, **matching}
        tables += table(caption, tuple(columns), list(zip(*columns.values(), strict=True)))
    return tables


def _known(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the columns with data."""
    return {name: cells for name, cells in columns.items() if not cells or set(cells) != {NOT_KNOWN}}


def _counted_text(matching: MatchingWork, name: str) -> str:
    return number_text(matching.each(getattr(matching, name)) or None)


def _busy_text(total_s: float, each_us: float | None) -> str:
    return time_text(total_s if each_us else None)


def _micro(microseconds: float | None) -> float | None:
    return microseconds / 1e6 if microseconds else None


LOADS: Final = Question(name="loads", place=120, collect=collect, sections=sections)
