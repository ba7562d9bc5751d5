"""Energy on hand-made rows, and against plain Python on drawn ones."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_analysis.questions.energy import (
    USES,
    GroupEnergy,
    by_group,
    energy_of,
    energy_over_time,
    energy_used,
)
from spark_analysis.run import open_run

MakeTable = Callable[..., DataFrame]
WriteRun = Callable[..., Path]


def used(
    at_ms: int, node: int, idle_j: float, radio_j: float, compute_j: float, **more: Any
) -> dict[str, Any]:
    return {
        "at_ms": at_ms,
        "node": node,
        "idle_j": idle_j,
        "radio_j": radio_j,
        "compute_j": compute_j,
        **more,
    }


@pytest.fixture
def energy(make_table: MakeTable) -> DataFrame:
    return make_table(
        "energy",
        used(600, 1, 1.0, 0.5, 0.0, battery_j=8.5),
        used(1200, 1, 2.0, 1.5, 0.25, battery_j=6.25),
        used(600, 2, 10.0, 0.0, 0.0),
        used(700, 3, 4.0, 0.0, 1.0, battery_j=0.0),
        used(1200, 3, 4.0, 0.0, 1.0, battery_j=0.0),
    )


NODES = {
    1: {"group": "helpers", "role": "mediator"},
    2: {"group": "helpers", "role": "mediator"},
    3: {"group": "patients", "role": "publisher"},
    4: {"group": "patients", "role": "publisher"},
}


def test_what_counts_is_what_was_used_last(energy: DataFrame) -> None:
    rows = energy.transform(energy_used).orderBy("node").collect()
    assert [(row["node"], *(row[use] for use in USES), row["battery_j"]) for row in rows] == [
        (1, 2.0, 1.5, 0.25, 6.25),
        (2, 10.0, 0.0, 0.0, None),
        (3, 4.0, 0.0, 1.0, 0.0),
    ]
    assert by_group([row.asDict() for row in rows], NODES) == (
        GroupEnergy("mediator", "helpers", 2, 12.0, 1.5, 0.25, 0),
        GroupEnergy("publisher", "patients", 1, 4.0, 0.0, 1.0, 1),
    )


def test_energy_for_each_delivery(spark: SparkSession, write_run: WriteRun) -> None:
    rows = [used(600, 1, 2.0, 1.5, 0.25), used(600, 2, 10.0, 0.0, 0.0), used(1200, 3, 4.0, 0.0, 1.0)]
    run = open_run(write_run({"energy": rows}), spark)
    found = energy_of(run, NODES, 7, 2000, 2)
    assert (found.total_j, found.radio_j) == (18.75, 1.5)
    assert (found.devices, found.all_devices) == (3, 7)
    assert (found.j_per_delivery, found.radio_j_per_delivery) == (9.375, 0.75)
    nothing = energy_of(run, NODES, 7, 2000, 0)
    assert nothing.j_per_delivery is None


def test_running_sums_agree_with_plain_python(make_table: MakeTable) -> None:
    chance = random.Random(4)
    rows = []
    for node in range(5):
        idle = radio = 0.0
        for at_ms in sorted(chance.sample(range(10_000), 12)):
            idle, radio = idle + chance.random(), radio + chance.random()
            rows.append(used(at_ms, node, idle, radio, 0.0))
    chance.shuffle(rows)
    found = make_table("energy", *rows).transform(energy_over_time, 1000).collect()
    sums = {row["bin"]: (row["idle_j"], row["radio_j"]) for row in found}
    for end in range(10):
        together = [0.0, 0.0]
        for node in range(5):
            known = [row for row in rows if row["node"] == node and row["at_ms"] < (end + 1) * 1000]
            if known:
                last = max(known, key=lambda row: int(row["at_ms"]))
                together[0] += last["idle_j"]
                together[1] += last["radio_j"]
        so_far = [sum(sums[bin_][kind] for bin_ in sums if bin_ <= end) for kind in (0, 1)]
        assert so_far == pytest.approx(together)
