"""Two languages in one scenario, with readings and publications of which not all is known: without faults
every expected delivery arrives, in each of them, and Spark judges each by itself.
"""

import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from dens.cli import console
from dens.cli.main import main
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from knowledge_manager.mission_table import load_mission_table
from plugins.ground_truth import ReadingColumns
from plugins.readings import decode_exact
from plugins.registry import languages
from watchdog.header import body_of

ATOPSS_ID = 2

SCENARIO = """
name = "both"
duration_s = 3000
seed = 11
vocabularies = ["medical", "housing"]
area = { width_m = 150, height_m = 150 }
radio.device = { range_m = 80, rate_bytes_per_s = 25000 }

[[group]]
name = "medics"
role = "subscriber"
count = 2
radio = "device"
mobility = { model = "random_waypoint", speed_m_per_s = [1, 2], pause_s = [0, 30] }

[[group]]
name = "helpers"
role = "mediator"
count = 5
radio = "device"
mobility = { model = "random_waypoint", speed_m_per_s = [1, 2], pause_s = [0, 30] }

[[group]]
name = "monitors"
role = "publisher"
count = 3
radio = "device"
mobility = { model = "static" }

[[group]]
name = "owners"
role = "publisher"
count = 1
radio = "device"
mobility = { model = "static" }

[[subscription]]
group = "medics"
file = "fever.xml"

[[subscription]]
group = "medics"
file = "maybe.xml"

[[subscription]]
group = "medics"
file = "flat.xml"

[[sensor]]
group = "monitors"
event = "patient"
every_s = 60
source = { csv = "day.csv", time_column = "t", columns = { patient_temperature = "temp", heart_rate = "hr" } }

[[group]]
name = "patches"
role = "publisher"
count = 2
radio = "device"
mobility = { model = "static" }

[[sensor]]
group = "patches"
event = "patient"
every_s = 60
source = { generator = "vital_signs", deteriorating = 1.0 }
error = { patient_temperature = { interval = 0.4 }, heart_rate = { triangular = 9 } }

[[publication]]
group = "owners"
language = "atopss"
files = ["offer.xml"]
at_s = 1200
"""

FEVER = """<subscription xmlns="urn:dens:subscription:1" event="patient">
  <approximate-predicate attribute="patient_temperature"><is>high</is></approximate-predicate>
</subscription>"""

MAYBE = """<subscription xmlns="urn:dens:approximate:1" event="patient" possibility="0.5">
  <or>
    <approximate-predicate attribute="patient_temperature" necessity="0.2">
      <is>high</is>
    </approximate-predicate>
    <crisp-predicate attribute="heart_rate" operator="ge" necessity="1">120</crisp-predicate>
  </or>
</subscription>"""

READINGS = ["37.9..38.5", "high", "38.2±0.3", "36.5", "39.1", "?", "38.4..39.9", "36.9±0.2", "40.1±0.1"]
PULSES = ["80", "119..125", "121..130", "?", "70±4", "128±6"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Return a folder with the run and its report."""
    folder = tmp_path_factory.mktemp("both")
    examples = Path(__file__).parents[2] / "docs" / "examples"
    lines = ["t,temp,hr"]
    lines += [f"{60 * n},{READINGS[n % len(READINGS)]},{PULSES[n % len(PULSES)]}" for n in range(48)]
    files = {
        "both.toml": SCENARIO,
        "fever.xml": FEVER,
        "maybe.xml": MAYBE,
        "flat.xml": (examples / "apartment.xml").read_text("utf-8"),
        "offer.xml": (examples / "apartment_offer.xml").read_text("utf-8"),
        "day.csv": "\n".join(lines) + "\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    scenario = load_scenario(folder / "both.toml")
    run_scenario(scenario, scenario.seed, folder / "out")
    console.out.cache_clear()
    with pytest.raises(SystemExit) as end, (folder / "report.json").open("w") as out, redirect_stdout(out):
        main(["report", str(folder / "out"), "-o", str(folder / "report.html"), "--json"])
    console.out.cache_clear()
    assert end.value.code == 0
    return folder


def rows(run: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table of the trace."""
    files = sorted((run / "out" / "trace" / table).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def wanted(run: Path, table: str, language: int, concerned: set[tuple[int, int]]) -> set[tuple[int, ...]]:
    """Return which subscriber matches which reading of a table, by single calls of the language itself."""
    known = languages()[language]
    assert known.ground_truth is not None
    held = [row for row in rows(run, "subscriptions") if row["language"] == language]
    found = set()
    for row in rows(run, table):
        if (row["node"], row["event_number"]) not in concerned:
            continue
        truth = known.ground_truth(load_mission_table(["medical", "housing"]))
        for number, asked in enumerate(held):
            if asked["created_ms"] <= row["at_ms"] < asked["expires_ms"]:
                truth.add(number, body_of(asked["vector"]))
        values = iter(row["values"])
        mask = int.from_bytes(row["attributes"], "big")
        bytes_ = [next(values) if mask >> at & 1 else 0 for at in range(8 * len(row["attributes"]))]
        one = ReadingColumns(
            np.array([row["at_ms"]]),
            np.array([row["event"]], np.uint8),
            np.array([mask]),
            np.array([bytes_], np.uint8),
            [row["exact"]],
        )
        for number in truth.judge(one)[1].tolist():
            asked = held[number]
            found.add((row["node"], row["event_number"], asked["subscriber"], asked["id"], asked["seq"]))
    return found


def test_every_expected_delivery_arrives_in_both_languages(run: Path) -> None:
    report = json.loads((run / "report.json").read_text("utf-8"))
    served = {one["language"]: one["served"] for one in report["delivery"]["by_language"]}
    assert served.keys() == {1, ATOPSS_ID}
    for language in served:
        assert served[language]["delivered"] > 10
        assert served[language]["missed"] == 0
        assert served[language]["ratio"] == 1.0
    truth = report["truth"]
    assert truth["held_back"] == 0
    assert truth["unwanted"] == 0
    assert (truth["recall"], truth["precision"]) == (1.0, 1.0)


def test_published_and_true_values_are_traced_and_judged(run: Path) -> None:
    told = {
        (row["node"], row["event_number"]): decode_exact(row["exact"])
        for row in rows(run, "filter_decisions")
    }
    true = {
        (row["node"], row["event_number"]): decode_exact(row["exact"]) for row in rows(run, "true_readings")
    }
    assert len(true) == 100
    assert true.keys() < told.keys()
    for key, values in true.items():
        assert values.keys() == told[key].keys()
        for index, (low, _, _, high) in values.items():
            assert told[key][index][0] <= low == high <= told[key][index][3]
    report = json.loads((run / "report.json").read_text("utf-8"))
    misled = {one["language"]: one for one in report["misled"]}
    assert misled.keys() == {1, ATOPSS_ID}
    for language, found in misled.items():
        by_told = wanted(run, "filter_decisions", language, set(true))
        by_truth = wanted(run, "true_readings", language, set(true))
        assert found["agreed"] == len(by_told & by_truth) > 0
        assert found["false"] == len(by_told - by_truth)
        assert found["missed"] == len(by_truth - by_told)
    assert sum(one["false"] + one["missed"] for one in misled.values()) > 0


def test_what_was_not_certain_is_in_the_trace(run: Path) -> None:
    exact = [decode_exact(row["exact"]) for row in rows(run, "filter_decisions")]
    widths = {corners[3] - corners[0] for one in exact for corners in one.values()}
    assert {0, 60, 20} <= widths
    flats = [row for row in rows(run, "notifications") if row["language"] == ATOPSS_ID]
    assert flats
    found = [row for row in rows(run, "matches") if row["detail"]]
    assert {(row["degree_u8"], row["detail"][0]) for row in found} >= {(255, 223)}
    words = " ".join(one["words"] for one in json.loads((run / "report.json").read_text())["details"])
    assert "possible 1.00, necessary" in words
