"""Asks what devices used, where the scenario says what things cost them."""

from spark_analysis.answers import Energy, GroupEnergy
from spark_analysis.asking.naming import bin_ms_of
from spark_analysis.metrics.energy import (
    USES,
    energy_by,
    energy_for_deliveries,
    energy_over_time,
    energy_used,
)
from spark_analysis.run import Run


def energy_of(run: Run, end_ms: int) -> Energy | None:
    """Ask what was used; None when the run has no table of it, or nothing in it."""
    if not run.rows("energy"):
        return None
    table = run.table("energy")
    used = table.transform(energy_used).cache()
    by_group = used.transform(energy_by, run.table("nodes"), "role", "group").collect()
    costs = used.transform(energy_for_deliveries, run.table("messages")).first()
    bin_ms = bin_ms_of(end_ms)
    seen = {row["bin"]: row for row in table.transform(energy_over_time, bin_ms).collect()}
    used.unpersist()
    assert costs is not None
    sums: dict[str, list[float]] = {name: [] for name in USES}
    for bin_ in range(1 + max(seen)):
        for name, line in sums.items():
            line.append((line[-1] if line else 0.0) + (seen[bin_][name] if bin_ in seen else 0.0))
    return Energy(
        total_j=costs["total_j"],
        radio_j=costs["radio_j"],
        j_per_delivery=costs["j_per_delivery"],
        radio_j_per_delivery=costs["radio_j_per_delivery"],
        by_group=tuple(
            GroupEnergy(**{name: row[name] for name in ("role", "group", "devices", *USES, "empty")})
            for row in by_group
        ),
        bin_s=bin_ms / 1000,
        idle_j=tuple(sums["idle_j"]),
        sent_j=tuple(sums["radio_j"]),
        computed_j=tuple(sums["compute_j"]),
    )
