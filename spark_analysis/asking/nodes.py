"""Asks what the nodes judged, held and computed."""

from pyspark.sql import DataFrame, Row

from spark_analysis.answers import Filtering, GroupLoad, Holding
from spark_analysis.asking.naming import bin_ms_of
from spark_analysis.metrics.cost import computing_cost
from spark_analysis.metrics.filtering import filter_savings, with_rate
from spark_analysis.metrics.holding import buffer_use, copies_over_time, held_over_time
from spark_analysis.run import Run


def filtering_of(run: Run) -> Filtering:
    """Ask what the watchdogs judged and kept at home."""
    readings = run.table("filter_decisions").transform(
        with_rate, run.table("nodes"), run.manifest.radio_rates()
    )
    row = readings.transform(filter_savings).first()
    assert row is not None
    return Filtering(**row.asDict())


def holding_of(buffers: DataFrame, messages: DataFrame, end_ms: int) -> Holding:
    """Ask how many copies of notifications there were, and how far each had spread."""
    bin_ms = bin_ms_of(end_ms)
    changes = {row["bin"]: row for row in buffers.transform(held_over_time, bin_ms).collect()}
    spread = {row["bin"]: row for row in messages.transform(copies_over_time, bin_ms).collect()}
    copies, sizes, degrees = [0], [0], []
    got = made = 0
    for bin_ in range(-(-end_ms // bin_ms)):
        held = changes.get(bin_)
        copies.append(copies[-1] if held is None else held["notifications"])
        sizes.append(sizes[-1] if held is None else held["notification_bytes"])
        new = spread.get(bin_)
        got, made = (got, made) if new is None else (got + new["copies"], made + new["notifications"])
        degrees.append(got / made if made else None)
    return Holding(bin_ms / 1000, tuple(copies[1:]), tuple(sizes[1:]), tuple(degrees))


def loads_of(run: Run, nodes: dict[int, Row], end_ms: int) -> tuple[GroupLoad, ...]:
    """Ask what the nodes of each group held in their buffers and computed."""
    who = run.table("nodes")
    used = {row["group"]: row for row in run.table("buffers").transform(buffer_use, who, end_ms).collect()}
    judged = {
        row["group"]: row for row in run.table("filter_decisions").transform(computing_cost, who).collect()
    }
    matched = {row["group"]: row for row in run.table("matches").transform(computing_cost, who).collect()}
    groups = [row["group"] for row in nodes.values()]
    return tuple(
        GroupLoad(
            group=group,
            nodes=groups.count(group),
            mean_items=used[group]["mean_items"] if group in used else None,
            peak_items=used[group]["peak_items"] if group in used else 0,
            peak_bytes=used[group]["peak_bytes"] if group in used else 0,
            filter_s=judged[group]["total_us"] / 1e6,
            filter_us_per_reading=judged[group]["us_per_step"],
            match_s=matched[group]["total_us"] / 1e6,
            match_us_per_match=matched[group]["us_per_step"],
        )
        for group in sorted(set(groups))
    )
