"""Recordings come back row by row at their own pace, and broken ones are refused line by line."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from dens.config.problems import DocumentError, Problem
from emulation.sensors.recording import Conversion, Layout, Series, read_recording
from knowledge_manager.mission_table import load_mission_table

LAYOUT = Layout("t", "who", {"heart_rate": "hr", "patient_temperature": "temp"}, frozenset({"", "NA"}), {})


def recording(tmp_path: Path, text: str, layout: Layout = LAYOUT) -> tuple[Series, ...]:
    path = tmp_path / "data.csv"
    path.write_text(text)
    return read_recording(path, layout)


def problems(tmp_path: Path, text: str, layout: Layout = LAYOUT) -> list[str]:
    with pytest.raises(DocumentError) as refused:
        recording(tmp_path, text, layout)
    return [str(problem).removeprefix(f"{tmp_path}/") for problem in refused.value.problems]


def test_each_series_begins_with_the_run_and_holds_its_last_value(tmp_path: Path) -> None:
    text = "who,t,hr,temp\nb,100,80,37.0\na,5,60,36.5\nb,160.5,NA,37.2\na,65,61,\n"
    b, a = recording(tmp_path, text)
    assert b.sample(0) == {"heart_rate": "80", "patient_temperature": "37.0"}
    assert b.sample(60_499) == {"heart_rate": "80", "patient_temperature": "37.0"}
    assert b.sample(60_500) == {"heart_rate": None, "patient_temperature": "37.2"}
    assert b.sample(60_501) is None
    assert a.sample(60_000) == {"heart_rate": "61", "patient_temperature": None}


def test_times_may_be_iso_8601_and_files_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"t,temp\n2016-01-01T00:00:00Z,20.5\n2016-01-01T01:00:00Z,21.0\n"))
    [only] = read_recording(path, Layout("t", None, {"temperature": "temp"}, frozenset(), {}))
    assert list(only.times_ms) == [0, 3_600_000]
    assert only.sample(3_599_999) == {"temperature": "20.5"}


def test_units_are_converted_and_rounded_to_what_the_table_keeps(tmp_path: Path) -> None:
    layout = Layout("t", None, {"body": "f"}, frozenset({""}), {"body": Conversion("degF", "degC", 2)})
    [only] = recording(tmp_path, "t,f\n0,100.4\n1,\n2,broken\n", layout)
    assert only.rows == [("38.00",), (None,), ("broken",)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "who,t,hr,tmp\nb,1,80,37\n",
            [
                'data.csv:1:1: error D311: column "temp" is missing; did you mean "tmp"?; '
                "the file has: who, t, hr, tmp"
            ],
        ),
        (
            "who,t,hr,temp\nb,1,80\nb,2,80,37\nb,x,80,37\nb,1,80,37\nb,inf,1,1\n",
            [
                "data.csv:2:1: error D311: 3 fields, the header has 4",
                'data.csv:4:1: error D311: time "x" is neither seconds nor ISO 8601',
                "data.csv:5:1: error D311: time 1 is before the row above; sort the file by time",
                'data.csv:6:1: error D311: time "inf" is neither seconds nor ISO 8601',
            ],
        ),
        ("who,t,hr,temp,hr\nb,1,2,3,4\n", ['data.csv:1:1: error D311: there are 2 columns "hr"']),
        (
            "who;t;hr;temp\nb;1;80;37,5\n",
            [
                "data.csv:1:1: error D311: there is one column; its columns are separated by semicolons: "
                "use commas, and decimal points in numbers"
            ],
        ),
        ("", ["data.csv: error D311: is empty; its first line has to name the columns"]),
        ("who,t,hr,temp\nb\n", ["data.csv:2:1: error D311: 1 field, the header has 4"]),
        ("who,t,hr,temp\n", ["data.csv: error D311: has no rows below its header"]),
        ('who,t,hr,temp\nb,1,"80,37\n', ["data.csv:2:1: error D311: not CSV: unexpected end of data"]),
    ],
)
def test_a_broken_file_is_refused_line_by_line(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert problems(tmp_path, text) == expected


def test_values_that_cannot_be_and_gaps_are_refused_line_by_line(tmp_path: Path) -> None:
    event = load_mission_table(["medical"]).event("patient")
    layout = Layout(
        "t",
        None,
        {"heart_rate": "hr", "ward": "where"},
        frozenset({"", "NA"}),
        {},
        {name: event.attribute(name) for name in ("heart_rate", "ward")},
        60_000.0,
    )
    text = "t,hr,where\n0,80,ICU\n60,eighty,ICU\n121,NA,\n130,81,Icu\n"
    advice = "if it stands for a missing value, list it in missing"
    wards = ", ".join(event.attribute("ward").values)
    assert problems(tmp_path, text, layout) == [
        f'data.csv:3:1: error D311: "eighty" is not a value of heart_rate; {advice}',
        "data.csv:4:1: error D311: a gap of 61 s before this row; longest_gap_s allows less",
        f'data.csv:5:1: error D311: "Icu" is not a value of ward ({wards}); did you mean "ICU"?; {advice}',
    ]


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"t,temp\n" + b"0,1\n" * 100)[:-12])
    with pytest.raises(DocumentError, match=r"D311: cannot be decompressed"):
        read_recording(path, Layout("t", None, {"temperature": "temp"}, frozenset(), {}))


def test_gaps_and_rows_of_one_moment_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("t,temp\n0,1\n60,2\n60,3\n120,4\n180,5\n900,6\n960,7\n9960,8\n")
    layout = Layout("t", None, {"temperature": "temp"}, frozenset(), {})
    warnings: list[Problem] = []
    [series] = read_recording(path, layout, warnings)
    assert series.sample(60_000) == {"temperature": "3"}
    assert [str(one).replace(f"{tmp_path}/", "") for one in warnings] == [
        "data.csv:4:1: warning D322: time 60 again; only the last row of a moment is read",
        "data.csv:7:1: warning D322: a gap of 720 s before this row, usually it is 60 s "
        "(and 1 more of the kind); the row before is read until then; longest_gap_s refuses it",
    ]
    warnings.clear()
    read_recording(path, replace(layout, longest_gap_ms=1e9), warnings)
    assert [one.line for one in warnings] == [4]


def test_values_outside_the_domain_are_reported_once_per_attribute(tmp_path: Path) -> None:
    event = load_mission_table(["medical"]).event("patient")
    names = ("heart_rate", "oxygen_saturation", "ward")
    layout = Layout(
        "t",
        None,
        {"heart_rate": "hr", "oxygen_saturation": "spo2", "ward": "where"},
        frozenset({""}),
        {},
        {name: event.attribute(name) for name in names},
    )
    path = tmp_path / "data.csv"
    path.write_text("t,hr,spo2,where\n0,80,98,ICU\n60,-999,98,ICU\n120,-999,101,ICU\n180,,97,ICU\n")
    warnings: list[Problem] = []
    [series] = read_recording(path, layout, warnings)
    assert len(series.rows) == 4
    rate, share = (event.attribute(name) for name in names[:2])
    assert [str(one).replace(f"{tmp_path}/", "").split("; it is read")[0] for one in warnings] == [
        f"data.csv:3:1: warning D322: heart_rate -999 is outside the domain {rate.lo:g} to "
        f"{rate.hi:g} {rate.unit} (and 1 more of the kind)",
        f"data.csv:4:1: warning D322: oxygen_saturation 101 is outside the domain {share.lo:g} to "
        f"{share.hi:g} {share.unit}",
    ]
