"""Two runs side by side: the same ones are the same, and what differs is named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emulation.comparison import NotARun, compare_runs
from emulation.run import run_scenario
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]


def test_the_same_run_twice_is_the_same(write_scenario: WriteScenario, tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(("duration_s = 3600", "duration_s = 900")))
    for out in ("one", "two"):
        run_scenario(scenario, 5, tmp_path / out)
    found = compare_runs(tmp_path / "one", tmp_path / "two")
    assert found.same_trace
    assert found.lines() == ["same trace, byte for byte"]


def test_a_different_loss_is_named_and_changes_neither_motion_nor_contacts(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    path = write_scenario(("duration_s = 3600", "duration_s = 900"))
    run_scenario(load_scenario(path), 5, tmp_path / "one")
    run_scenario(load_scenario(path, ["radio.handheld.loss=0.5"]), 5, tmp_path / "two")
    found = compare_runs(tmp_path / "one", tmp_path / "two")
    assert [difference.line() for difference in found.settings] == [
        "scenario.radio.handheld.loss: 0.05 | 0.5"
    ]
    assert "messages" in found.tables
    assert not {"nodes", "motion", "contacts"} & set(found.tables)
    assert any(difference.path == "frames_lost" for difference in found.figures)
    assert found.lines()[0].startswith("traces differ in ")


def test_different_scenarios_are_told_first_and_nothing_twice(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    path = write_scenario(("duration_s = 3600", "duration_s = 300"))
    run_scenario(load_scenario(path), 5, tmp_path / "one")
    run_scenario(load_scenario(path, ["name=other", "duration_s=200"]), 6, tmp_path / "two")
    lines = compare_runs(tmp_path / "one", tmp_path / "two").lines()
    assert lines[0] == 'different scenarios: "small" | "other"'
    assert lines[1].startswith("traces differ in ")
    assert lines.count("seed: 5 | 6") == 1
    assert not [line for line in lines[1:] if "small" in line or line.startswith("simulated_s")]


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match=r"is no run: manifest\.json"):
        compare_runs(tmp_path, tmp_path)
