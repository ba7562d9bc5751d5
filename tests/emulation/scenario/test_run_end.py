"""Times after the end of a run: an error in the file, ignored if the run was shortened from outside."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from emulation.rerun import rerun
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from emulation.scenario.loading import shipped_scenarios

WriteScenario = Callable[..., Path]

LATE = """\
[[population]]
group = "medics"
event = "patient"
number = 4
at_s = 2000

[[traffic]]
source = "patients"
destination = "medics"
first_s = 2000
every_s = 5
size_bytes = 10
lifetime_s = 600

[[fault]]
kind = "crash"
at_s = 2000

[[fault]]
kind = "partition"
who = ["helpers"]
at_s = 2000

[[control]]
at_s = 2000
path = "radio.handheld.range_m"
value = 5

[[control]]
at_s = 2000
path = "sensor[0].every_s"
value = 1

[[subscription]]"""
NEVER_COMES = [
    "control[0].at_s",
    "control[1].at_s",
    "fault[0].at_s",
    "fault[1].at_s",
    "population[0].at_s",
    "sensor[0].at_s",
    "subscription[0].at_s",
    "traffic[0].first_s",
]


@pytest.fixture
def late(write_scenario: WriteScenario) -> Path:
    return write_scenario(
        ("[[subscription]]", LATE),
        ('file = "fever.xml"', 'file = "fever.xml"\nat_s = 2000'),
        ("every_s = 30", "at_s = 2000\nevery_s = 30"),
    )


def keys_of(told: list[str]) -> list[str]:
    return sorted(line.split(": ")[2] for line in told)


def test_events_after_the_end_of_a_shortened_run_are_reported_and_dropped(late: Path, tmp_path: Path) -> None:
    assert load_scenario(late).warnings == ()
    shortened = load_scenario(late, ["duration_s=2000"])
    assert keys_of(list(map(str, shortened.warnings))) == NEVER_COMES
    for warning in shortened.warnings:
        assert (warning.severity, warning.code, Path(warning.file)) == ("warning", "D312", late)
        assert warning.line
        assert warning.message.endswith(": 2000 s is not within the run of 2000 s, so it never happens")
    summary = run_scenario(shortened, 5, tmp_path / "run")
    assert (summary.status, summary.readings, summary.subscriptions) == ("complete", 0, 2)
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["simulated_ms"] == 2_000_000
    again = rerun(tmp_path / "run", tmp_path / "again")
    assert again.comparison is not None
    assert again.comparison.same_trace


def test_a_file_whose_moments_lie_after_its_own_end_is_refused(late: Path) -> None:
    late.write_text(late.read_text().replace("duration_s = 3600", "duration_s = 2000"))
    with pytest.raises(DocumentError) as refused:
        load_scenario(late)
    assert keys_of(list(map(str, refused.value.problems))) == NEVER_COMES
    for problem in refused.value.problems:
        assert (problem.severity, problem.code) == ("error", "D312")
        assert "use an earlier time, or a longer duration_s" in problem.message


def test_a_moment_that_is_set_from_outside_has_to_lie_within_the_run(late: Path) -> None:
    with pytest.raises(DocumentError, match=r"^--set sensor\[0\].at_s=90: error D312: sensor.0..at_s: 90 s"):
        load_scenario(late, ["duration_s=60", "sensor[0].at_s=90"])


@pytest.mark.parametrize("name", sorted(set(shipped_scenarios()) - {"campus"}))
def test_every_shipped_scenario_can_be_made_short(name: str) -> None:
    assert load_scenario(name, ["duration_s=600"]).duration_ms == 600_000
    assert load_scenario(name).warnings == ()
