"""`dens node publish` reports unusable readings; they never become alarms."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from dens.node import clock
from dens.node.clock import LAST_MS, refuse_clock
from dens.node.processes.publisher import MOST_REPORTED, watchdog_for
from dens.node.sources.recording import Recording, field_starts, recorded_columns
from knowledge_manager.mission_table import load_mission_table
from plugins.readings import ExactReading
from plugins.value_texts import fault_of
from tests.dens.node.node_process import node_file
from watchdog.csv_source import split_row

NOBODY = ["--at", "127.0.0.1:9", "--period", "0", "--wait", "0"]
PATIENT = load_mission_table(["medical"]).event("patient")


def test_a_nodes_file_names_the_algorithm_of_its_publishers() -> None:
    table = load_mission_table(["medical"])
    flat, usual = (watchdog_for(table, name).filters[1].pool for name in ("fnif", None))
    assert (flat.flat, usual.flat, usual.covering) == (True, False, 0)
    assert watchdog_for(table, "fnifc").filters[1].pool.covering == 1


def test_an_unknown_algorithm_of_a_nodes_file_is_refused(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    path.write_text('algorithm = "fnifz"\n' + path.read_text())
    (tmp_path / "day.csv").write_text("heart_rate\n70\n")
    ended = dens("node", "publish", path, tmp_path / "day.csv", "--event", "patient", *NOBODY)
    assert (ended.code, "algorithm" in ended.err, "fnifc" in ended.err) == (3, True, True), ended.err


def published(dens: Any, folder: Path, text: str, *more: str) -> tuple[Any, dict[str, Any]]:
    path, day = node_file(folder, 1), folder / "day.csv"
    day.write_text(text, encoding="utf-8", newline="")
    ended = dens("node", "publish", path, day, "--event", "patient", *NOBODY, *more, "--json")
    return ended, json.loads(ended.out.splitlines()[-1])


@pytest.mark.parametrize("value", ["abc", "inf", "nan", "1e999", "0x28", "tot", "4\x001", "1_0", "٤٠"])
def test_non_numeric_value_is_reported_with_its_place_and_skipped(dens, tmp_path: Path, value: str) -> None:
    ended, figures = published(dens, tmp_path, f"heart_rate,patient_temperature\n70,{value}\n71,37\n")
    assert f"{tmp_path / 'day.csv'}:2:4: error D352: " in ended.err
    assert "is not a value of patient_temperature" in ended.err
    assert "\x00" not in ended.err
    assert (figures["readings"], figures["broken_lines"], figures["refused_values"]) == (2, 1, 1)
    assert ended.code == 1


@pytest.mark.parametrize("value", ["99999999999999999999", "-1", "45.01", "4100"])
def test_a_value_outside_of_its_domain_is_never_clipped_into_a_reading(
    dens, tmp_path: Path, value: str
) -> None:
    ended, figures = published(dens, tmp_path, f"patient_temperature,heart_rate\n{value},70\n")
    warmth = PATIENT.attribute("patient_temperature")
    domain = f"{warmth.lo:g} to {warmth.hi:g} degC"
    assert f"day.csv:2:1: error D353: patient_temperature {value} is outside the domain {domain}" in ended.err
    assert figures["broken"] == [
        {"line": 2, "column": 1, "code": "D353", "why": figures["broken"][0]["why"]},
    ]
    assert figures["readings"] == 1
    watchdog = watchdog_for(load_mission_table(["medical"]))
    reading = ExactReading(1)
    columns = recorded_columns(tmp_path / "day.csv", PATIENT)
    recording = Recording(columns, PATIENT, lambda _: None, watchdog.counters)
    recording.start()
    assert recording.read_into(reading, 0)
    assert recording.is_over
    assert not reading.has(PATIENT.attribute("patient_temperature").index)
    assert reading.has(PATIENT.attribute("heart_rate").index)
    assert watchdog.counters["clipped"] == 0


def test_line_without_usable_values_makes_no_reading(dens, tmp_path: Path) -> None:
    ended, figures = published(dens, tmp_path, "patient_temperature\nabc\n37\n\n")
    assert (figures["readings"], figures["broken_lines"]) == (2, 1)
    assert ended.code == 1


def test_unknown_column_is_reported_once_and_can_be_ignored(dens, tmp_path: Path) -> None:
    text = "time,patient_temperature,hart_rate\n0,37,70\n1,37,71\n"
    ended, figures = published(dens, tmp_path, text)
    assert ended.err.count("error D354") == 2
    assert (
        'day.csv:1:26: error D354: "hart_rate" is not an attribute of patient; did you mean "heart_rate"?'
        in ended.err
    )
    assert (figures["readings"], figures["broken_lines"], ended.code) == (2, 0, 1)
    ended, _ = published(dens, tmp_path, text, "--ignore", "time", "--ignore", "hart_rate")
    assert "D354" not in ended.err


def test_german_habits_get_one_hint_each(dens, tmp_path: Path) -> None:
    ended, _ = published(dens, tmp_path, 'patient_temperature,heart_rate\n"41,5",70\n41,5,70\n')
    assert 'day.csv:2:1: error D352: "41,5" is not a value of patient_temperature; use a decimal' in ended.err
    assert "day.csv:3:1: error D351: it has 3 fields, and the first line has 2; if a comma" in ended.err
    path = node_file(tmp_path, 1)
    (tmp_path / "day.csv").write_text("patient_temperature;heart_rate\n41,5;70\n")
    refused = dens("node", "publish", path, tmp_path / "day.csv", "--event", "patient", *NOBODY)
    assert refused.code == 3
    assert refused.err.count("separated by semicolons") == 1


def test_faults_are_reported_up_to_a_bound_and_then_counted(dens, tmp_path: Path) -> None:
    ended, figures = published(dens, tmp_path, "patient_temperature,heart_rate\n" + "x,y\n" * 500)
    assert ended.err.count("error D352") == MOST_REPORTED == len(figures["broken"])
    assert (figures["broken_lines"], figures["refused_values"], figures["readings"]) == (500, 1000, 0)
    assert "lines rejected completely or in part: 500, values left out: 1,000" in ended.err


def test_an_endless_line_is_passed_over_without_being_held(dens, tmp_path: Path) -> None:
    ended, figures = published(dens, tmp_path, "heart_rate\n70\n" + "7" * 300_000 + "\n71\n")
    assert "day.csv:3:1: error D351: it is longer than" in ended.err
    assert figures["readings"] == 2


@pytest.mark.parametrize(("seconds", "code"), [(4_102_444_800, 3), (253_402_300_800, 3), (0, 1)])
def test_implausible_clock_is_reported_before_the_first_reading(
    dens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, code: int
) -> None:
    monkeypatch.setattr(clock.time, "time_ns", lambda: seconds * 1_000_000_000)
    path, day = node_file(tmp_path, 1), tmp_path / "day.csv"
    day.write_text("heart_rate\n70\n")
    ended = dens("node", "publish", path, day, "--event", "patient", *NOBODY)
    assert ended.code == code
    assert "this machine's clock shows" in ended.err
    assert ("D355" in ended.err) == (code == 3)
    assert (tmp_path / "publisher-65003.sqlite").exists() == (code != 3)


def test_a_clock_of_our_days_is_not_doubted() -> None:
    for at_ms in (0, 200_000_000_000, LAST_MS - 1):
        refuse_clock(at_ms)
    for at_ms in (LAST_MS, 10**18):
        with pytest.raises(DocumentError, match="D355"):
            refuse_clock(at_ms)


@given(st.lists(st.text(alphabet='a",; x', max_size=6), min_size=1, max_size=6))
def test_fields_begin_where_the_line_says(texts: list[str]) -> None:
    fields = ['"' + text.replace('"', '""') + '"' for text in texts]
    line = ",".join(fields)
    starts = field_starts(line)
    assert len(starts) == len(split_row(line)) == len(texts)
    assert [
        line[start - 1 : start - 1 + len(field)] for start, field in zip(starts, fields, strict=True)
    ] == fields


@given(st.text(max_size=12))
def test_what_is_not_faulty_is_a_number_of_the_domain(text: str) -> None:
    attribute = PATIENT.attribute("patient_temperature")
    if fault_of(text, attribute) is None:
        assert attribute.lo - 0.005 <= float(text) <= attribute.hi + 0.005
