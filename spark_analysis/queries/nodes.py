"""Asks what the nodes judged, held and computed.

Whatever is asked of the nodes of a group is asked of each node and added up here: there are few nodes, and a
join with them would be another job for each question.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import Row

from spark_analysis.answers import Filtering, GroupLoad, Holding
from spark_analysis.catalogue.evidence import ReadingsKept
from spark_analysis.devices import Devices
from spark_analysis.matching_figures import COUNTED_SINCE, matching_done
from spark_analysis.metrics.cost import computing_cost
from spark_analysis.metrics.filtering import filter_savings
from spark_analysis.metrics.holding import buffer_use, copies_over_time, held_over_time
from spark_analysis.metrics.matching import matching_before_it_was_counted, matching_by_node
from spark_analysis.queries.naming import bin_ms_of
from spark_analysis.run import Run

Nodes = Mapping[int, Mapping[str, Any]]


def filtering_of(run: Run, nodes: Nodes) -> Filtering:
    """Ask what the watchdogs judged and kept at home."""
    rows = run.table("filter_decisions").transform(filter_savings, "node").collect()
    return filtering_from(rows, nodes, run.manifest.radio_rates())


def filtering_from(rows: Iterable[Row], nodes: Nodes, rates: Mapping[str, float]) -> Filtering:
    """Add up what `filter_savings` says of each node; `rates` are the bytes that the radio of a group takes
    in a second. Where none is known there are no seconds on the air.
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
        share_kept=ReadingsKept(judged, sums["kept"]).share,
        radio_s_kept=sum(on_air) if on_air else None,
        mean_cost_us=cost_us / judged if judged else None,
    )


def holding_of(run: Run, devices: Devices, end_ms: int) -> Holding:
    """Ask how many copies of notifications there were, and how far each had spread."""
    bin_ms = bin_ms_of(end_ms)
    held_at = run.table("buffers").transform(held_over_time, bin_ms)
    spread_in = run.table("messages").transform(copies_over_time, devices, bin_ms)
    changes = {row["bin"]: row for row in held_at.collect()}
    spread = {row["bin"]: row for row in spread_in.collect()}
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


def loads_of(run: Run, nodes: Nodes, devices: Devices, end_ms: int) -> tuple[GroupLoad, ...]:
    """Ask what the devices of each group held in their buffers and computed."""
    used = run.table("buffers").transform(buffer_use, devices, end_ms).collect()
    costs = run.table("filter_decisions").transform(computing_cost, "node").collect()
    matched = matching_rows(run)
    members: dict[str, set[int]] = {}
    for node, row in nodes.items():
        members.setdefault(row["group"], set()).add(node)
    return tuple(
        load_of(
            group,
            len(its - devices.inside.keys()),
            [row for row in used if row["node"] in its],
            [row for row in costs if row["node"] in its],
            [row for row in matched if row["node"] in its],
        )
        for group, its in sorted(members.items())
    )


def matching_rows(run: Run) -> list[Row]:
    """Ask what each mediator did to match; nothing is asked where the trace knows nothing of it."""
    if run.manifest.schema_version < COUNTED_SINCE:
        return run.table("matches").transform(matching_before_it_was_counted).collect()
    if not run.rows("matching_work"):
        return []
    return run.table("matching_work").transform(matching_by_node).collect()


def load_of(group: str, devices: int, used: list[Row], costs: list[Row], matched: list[Row]) -> GroupLoad:
    """Add up what `buffer_use`, `computing_cost` and `matching_rows` say of the devices of one group."""
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
        matching=matching_done(row.asDict() for row in matched),
    )
