"""What a scenario says of its radios is what its nodes have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from emulation.radio import Radio
from emulation.run import run_scenario
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]


def test_every_key_reaches_the_radio(write_scenario: WriteScenario) -> None:
    path = write_scenario()
    usual = load_scenario(path).settings.radio["handheld"].radio()
    assert usual == Radio(50.0, 25_000.0, 100, 0.05)
    changes = [
        'radio.handheld.transfers="unlimited"',
        "radio.handheld.half_duplex=false",
        'radio.handheld.cut="resume"',
        "radio.handheld.frame_bytes=200",
        "radio.handheld.overhead_bytes=17",
    ]
    found = load_scenario(path, changes).settings.radio["handheld"].radio()
    assert found == Radio(50.0, 25_000.0, 100, 0.05, 200, 17, False, True, True)


def test_short_contacts_are_left_alone_and_stay_in_the_table(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    path = write_scenario(("duration_s = 3600", "duration_s = 1800"))

    def run(name: str, *changes: str) -> dict[str, list[dict[str, Any]]]:
        run_scenario(load_scenario(path, changes), 5, tmp_path / name)
        return {
            table.name: pq.read_table(table).to_pylist() for table in (tmp_path / name / "trace").iterdir()
        }

    usual, patient = run("usual"), run("patient", "radio.handheld.least_contact_s=25")
    assert usual["contacts"] == patient["contacts"]
    assert any(row["end_ms"] - row["begin_ms"] < 25_000 for row in usual["contacts"])

    def used(tables: dict[str, list[dict[str, Any]]]) -> set[float]:
        """The lengths of contacts in which anything was sent."""
        return {
            meeting["end_ms"] - meeting["begin_ms"]
            for row in tables["messages"]
            if row["kind"] == "sent"
            for meeting in tables["contacts"]
            if {meeting["a"], meeting["b"]} == {row["node"], row["peer"]}
            and meeting["begin_ms"] <= row["at_ms"] <= meeting["end_ms"]
        }

    assert min(used(usual)) < 25_000
    assert min(used(patient)) >= 25_000


def test_all_kinds_of_radios_carry_everything(write_scenario: WriteScenario, tmp_path: Path) -> None:
    path = write_scenario(("loss = 0.05", "loss = 0.0"))
    delivered = []
    for index, changes in enumerate(
        (
            [],
            ['radio.handheld.transfers="unlimited"', "radio.handheld.half_duplex=false"],
            ["radio.handheld.frame_bytes=64", "radio.handheld.overhead_bytes=10"],
            ["radio.handheld.rate_bytes_per_s=200", 'radio.handheld.cut="resume"'],
        )
    ):
        summary = run_scenario(load_scenario(path, changes), 5, tmp_path / str(index))
        delivered.append(summary.delivered)
    assert min(delivered[:3]) == max(delivered[:3]) > 0
    assert delivered[3] > 0
