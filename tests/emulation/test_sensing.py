"""Sensors without subscriptions: read and recorded, unless a scenario reads on demand."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.conftest import WriteScenario

RECORDING = "time_s,temperature,rate\n" + "".join(
    f"{60 * minute},{36 + minute % 7},{60 + 17 * minute % 120}\n" for minute in range(60)
)
CHANGES = (
    (
        'source = { generator = "vital_signs", deteriorating = 1.0 }',
        'source = { csv = "day.csv", '
        'time_column = "time_s", columns = { patient_temperature = "temperature", heart_rate = "rate" } }',
    ),
    ('file = "fever.xml"', 'file = "fever.xml"\nat_s = 900\nwithdrawn_at_s = 2000'),
    ("[[subscription]]", "[energy.small]\nreading_j = 0.5\n\n[[subscription]]"),
    (
        'radio = "handheld"\nmobility = { model = "static" }',
        'radio = "handheld"\nenergy = "small"\nmobility = { model = "static" }',
    ),
    ("range_m = 50", "range_m = 500"),
)
ON_DEMAND = ("[[sensor]]", "[sensing]\non_demand = true\n\n[[sensor]]")


@pytest.fixture
def rows(write_scenario: WriteScenario, tmp_path: Path) -> Any:
    def run(name: str, *changes: tuple[str, str]) -> dict[str, list[dict[str, Any]]]:
        (tmp_path / "day.csv").write_text(RECORDING)
        run_scenario(load_scenario(write_scenario(*CHANGES, *changes)), 5, tmp_path / name)
        return {
            table: pq.read_table(tmp_path / name / "trace" / table).to_pylist()
            for table in ("filter_decisions", "messages", "energy")
        }

    return run


def created(tables: dict[str, list[dict[str, Any]]]) -> list[tuple[int, int]]:
    return [
        (row["at_ms"], row["node"])
        for row in tables["messages"]
        if (row["kind"], row["type"]) == ("created", "notification")
    ]


def test_on_demand_sensor_is_read_only_while_subscribed_with_the_same_results(rows: Any) -> None:
    always, on_demand = rows("always"), rows("on_demand", ON_DEMAND)
    assert created(on_demand) == created(always) != []
    for row in on_demand["filter_decisions"]:
        assert 900_000 <= row["at_ms"] <= 2_060_000
        assert row["installed"] > 0
    wanted = [(one["at_ms"], one["node"]) for one in always["filter_decisions"] if one["installed"]]
    assert [(one["at_ms"], one["node"]) for one in on_demand["filter_decisions"]] == wanted
    assert len(always["filter_decisions"]) == 3 * 118, "to the end of the recording"


def test_what_is_not_read_costs_no_energy(rows: Any) -> None:
    spent = {}
    for name, changes in (("always", ()), ("on_demand", (ON_DEMAND,))):
        tables = rows(name, *changes)
        last = {row["node"]: row["compute_j"] for row in tables["energy"]}
        read = {node: [row["node"] for row in tables["filter_decisions"]].count(node) for node in last}
        assert last == {node: pytest.approx(0.5 * read[node], abs=0.51) for node in last}
        spent[name] = sum(last.values())
    assert spent["on_demand"] < spent["always"] / 2
