"""Asks what devices used, where the scenario says what things cost them."""

from collections.abc import Callable, Mapping
from typing import Any

from spark_analysis.answers import Energy, GroupEnergy
from spark_analysis.metrics.energy import USES, energy_over_time, energy_used
from spark_analysis.queries.naming import bin_ms_of
from spark_analysis.run import Run


def energy_of(
    run: Run,
    nodes: Mapping[int, Mapping[str, Any]],
    all_devices: int,
    end_ms: int,
    deliveries: Callable[[], int],
) -> Energy | None:
    """Ask what was used; None when the run has no table of it, or nothing in it.

    `deliveries` is called last, when they may have been counted meanwhile.
    """
    if not run.rows("energy"):
        return None
    table = run.table("energy")
    devices = [row.asDict() for row in table.transform(energy_used).collect()]
    bin_ms = bin_ms_of(end_ms)
    seen = {row["bin"]: row for row in table.transform(energy_over_time, bin_ms).collect()}
    sums: dict[str, list[float]] = {name: [] for name in USES}
    for bin_ in range(1 + max(seen)):
        for name, line in sums.items():
            line.append((line[-1] if line else 0.0) + (seen[bin_][name] if bin_ in seen else 0.0))
    total_j = sum(device[name] for device in devices for name in USES)
    radio_j = sum(device["radio_j"] for device in devices)
    delivered = deliveries()
    return Energy(
        total_j=total_j,
        radio_j=radio_j,
        j_per_delivery=total_j / delivered if delivered else None,
        radio_j_per_delivery=radio_j / delivered if delivered else None,
        by_group=by_group(devices, nodes),
        bin_s=bin_ms / 1000,
        idle_j=tuple(sums["idle_j"]),
        sent_j=tuple(sums["radio_j"]),
        computed_j=tuple(sums["compute_j"]),
        devices=len(devices),
        all_devices=all_devices,
    )


def by_group(
    devices: list[dict[str, Any]], nodes: Mapping[int, Mapping[str, Any]]
) -> tuple[GroupEnergy, ...]:
    """Add up the rows of `energy_used` by role and group; nodes that no energy is known of do not count."""
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
