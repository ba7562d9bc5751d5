"""Energy used by the devices, from the table `energy`: joules since the start, sampled every ten minutes.

A device with several roles has one battery; it counts for the node that represents it on the air.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.metrics.ordering import in_order
from spark_analysis.number_format import energy_text, number_text
from spark_analysis.question import Nodes, Question, RunContext, Section, bin_ms_of
from spark_analysis.questions.radio import radio_use_of
from spark_analysis.rendering.html import figure, paragraph, scrolling, table
from spark_analysis.run import Run

USES: Final = ("idle_j", "radio_j", "compute_j")
"""Idle, sending and receiving, measuring and computing."""


@dataclass(frozen=True, slots=True)
class GroupEnergy:
    """Energy of the devices of one group in one role. Of the `devices` with energy data, `empty` had an empty
    battery.
    """

    role: str
    group: str
    devices: int
    idle_j: float
    radio_j: float
    compute_j: float
    empty: int


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of the `devices` (of `all_devices`) with an energy profile, per delivery, and cumulative per
    bin. `sent_j` is for bytes sent and received.
    """

    total_j: float
    radio_j: float
    j_per_delivery: float | None
    radio_j_per_delivery: float | None
    by_group: tuple[GroupEnergy, ...]
    bin_s: float
    idle_j: tuple[float, ...]
    sent_j: tuple[float, ...]
    computed_j: tuple[float, ...]
    devices: int = 0
    all_devices: int = 0


def energy_used(energy: DataFrame) -> DataFrame:
    """Return one row per device: the last totals by use, and the battery."""
    last = (F.max_by(name, "at_ms").alias(name) for name in (*USES, "battery_j"))
    return energy.groupBy("node").agg(*last)


def energy_over_time(energy: DataFrame, bin_ms: int) -> DataFrame:
    """Return, for each bin with samples, the joules by use since the previous samples. Their running sums are
    the totals of all devices.
    """
    by_node = Window.partitionBy("node").orderBy("at_ms")
    new = energy.select(
        F.floor(F.col("at_ms") / bin_ms).cast("int").alias("bin"),
        *((F.col(name) - F.coalesce(F.lag(name).over(by_node), F.lit(0.0))).alias(name) for name in USES),
    )
    return new.groupBy("bin").agg(*(F.sum(name).alias(name) for name in USES)).transform(in_order, "bin")


def collect(context: RunContext) -> Energy | None:
    """Return the energy used; None if the trace has no energy data."""
    if not context.run.rows("energy"):
        return None
    deliveries = context.once(radio_use_of).deliveries
    return energy_of(context.run, context.nodes, context.devices.count, context.end_ms, deliveries)


def energy_of(run: Run, nodes: Nodes, all_devices: int, end_ms: int, deliveries: int) -> Energy:
    samples = run.table("energy")
    devices = [row.asDict() for row in samples.transform(energy_used).collect()]
    bin_ms = bin_ms_of(end_ms)
    seen = {row["bin"]: row for row in samples.transform(energy_over_time, bin_ms).collect()}
    sums: dict[str, list[float]] = {name: [] for name in USES}
    for bin_ in range(1 + max(seen)):
        for name, line in sums.items():
            line.append((line[-1] if line else 0.0) + (seen[bin_][name] if bin_ in seen else 0.0))
    total_j = sum(device[name] for device in devices for name in USES)
    radio_j = sum(device["radio_j"] for device in devices)
    return Energy(
        total_j=total_j,
        radio_j=radio_j,
        j_per_delivery=total_j / deliveries if deliveries else None,
        radio_j_per_delivery=radio_j / deliveries if deliveries else None,
        by_group=by_group(devices, nodes),
        bin_s=bin_ms / 1000,
        idle_j=tuple(sums["idle_j"]),
        sent_j=tuple(sums["radio_j"]),
        computed_j=tuple(sums["compute_j"]),
        devices=len(devices),
        all_devices=all_devices,
    )


def by_group(devices: list[dict[str, Any]], nodes: Nodes) -> tuple[GroupEnergy, ...]:
    """Sum the rows of `energy_used` by role and group; nodes without energy data do not count."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for device in devices:
        if device["node"] in nodes:
            its = nodes[device["node"]]
            groups.setdefault((its["role"], its["group"]), []).append(device)
    return tuple(
        GroupEnergy(
            role=role,
            group=group,
            devices=len(its),
            **{name: sum(device[name] for device in its) for name in USES},
            empty=sum(device["battery_j"] is not None and device["battery_j"] <= 0 for device in its),
        )
        for (role, group), its in sorted(groups.items())
    )


def sections(energy: Energy | None, analysis: Analysis) -> Iterable[Section]:
    if energy is not None:
        yield Section(
            place=150,
            id="energy",
            title="Energy",
            html=paragraph(_text(energy))
            + figure(_figure(energy))
            + scrolling(_table(energy, analysis.overhead.deliveries)),
        )


def _text(energy: Energy) -> str:
    devices = (
        f"The {energy.devices:,} devices"
        if energy.devices == energy.all_devices
        else f"The {energy.devices:,} of {energy.all_devices:,} devices with an energy profile"
    )
    return (
        f"{devices} used {energy_text(energy.total_j)} in total, {energy_text(energy.j_per_delivery)} per "
        f"delivery in the network; {energy_text(energy.radio_j_per_delivery)} per delivery were for sending "
        "and receiving. Sampled every ten minutes."
    )


def _table(energy: Energy, deliveries: int) -> str:
    rows = []
    for group in energy.by_group:
        total_j = group.idle_j + group.radio_j + group.compute_j
        rows.append(
            (
                group.role,
                group.group,
                number_text(group.devices),
                energy_text(group.idle_j),
                energy_text(group.radio_j),
                energy_text(group.compute_j),
                energy_text(total_j / group.devices),
                energy_text(total_j / deliveries if deliveries else None),
                number_text(group.empty),
            )
        )
    head = (
        *("role", "group", "devices", "idle", "radio", "computing"),
        *("per device", "per delivery", "batteries empty"),
    )
    return table("Energy by role and group", head, rows, text_columns=(1,))


def _figure(energy: Energy) -> str:
    """Draw the cumulative energy of all devices by use."""
    from spark_analysis.rendering.drawing import FOUR, INK, ONE, THREE, canvas, hours_axis, styled, svg

    with styled():
        chart, axes = canvas(3.4)
        hours = [(i + 1) * energy.bin_s / 3600 for i in range(len(energy.idle_j))]
        lines = (
            ("idle", energy.idle_j, THREE),
            ("radio", energy.sent_j, ONE),
            ("computing", energy.computed_j, FOUR),
        )
        shown = [(name, line, colour) for name, line, colour in lines if line and line[-1] > 0]
        axes.stackplot(
            hours,
            [line for _, line, _ in shown] or [[0.0] * len(hours)],
            colors=[colour for _, _, colour in shown] or [ONE],
            alpha=0.75,
            linewidth=0,
            labels=[f"{name} ({energy_text(line[-1])})" for name, line, _ in shown],
        )
        axes.set_ylim(bottom=0)
        hours_axis(axes, len(energy.idle_j) * energy.bin_s)
        axes.yaxis.set_major_formatter(lambda joules, _position: energy_text(joules) if joules else "0")
        if shown:
            axes.legend(frameon=False, loc="upper left", labelcolor=INK)
        return svg(
            chart,
            "energy",
            "Cumulative energy of all devices",
            "Stacked areas: " + ", ".join(f"{name} {energy_text(line[-1])}" for name, line, _ in shown) + ".",
        )


ENERGY: Final = Question(name="energy", place=130, collect=collect, sections=sections)
