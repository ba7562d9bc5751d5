"""The shipped scenarios behave as their descriptions state."""

import gzip
import hashlib
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.paths import ROOT

DATA = ROOT / "emulation" / "scenarios" / "data"
Rows = list[dict[str, int]]


def run_of(name: str, folder: Path) -> dict[str, Rows]:
    scenario = load_scenario(name)
    run_scenario(scenario, scenario.seed, folder / name)
    return {table.name: pq.read_table(table).to_pylist() for table in (folder / name / "trace").iterdir()}


def delivered(tables: dict[str, Rows]) -> Rows:
    return [row for row in tables["messages"] if row["kind"] == "delivered"]


def numbers_of(tables: dict[str, Rows], group: str) -> set[int]:
    return {row["node"] for row in tables["nodes"] if row["group"] == group}


@pytest.mark.slow
def test_on_two_islands_everything_comes_with_the_ferry(tmp_path: Path) -> None:
    tables = run_of("two_islands", tmp_path)
    [ferry] = numbers_of(tables, "ferry")
    west = numbers_of(tables, "beds") | numbers_of(tables, "station")
    east = numbers_of(tables, "doctors") | numbers_of(tables, "harbour_master")
    assert not [
        row for row in tables["contacts"] if {row["a"], row["b"]} & west and {row["a"], row["b"]} & east
    ]
    got = delivered(tables)
    created = {(row["origin"], row["number"]): row["at_ms"] for row in tables["notifications"]}
    waited = [row["at_ms"] - created[row["origin"], row["number"]] for row in got]
    assert {row["node"] for row in got} == east
    assert len(got) > 100
    assert min(waited) >= 540_000  # 3,000 m at 5 m/s, less what two radios reach
    aboard = {
        (row["origin"], row["number"])
        for row in tables["messages"]
        if row["node"] == ferry and row["kind"] in ("stored", "replicated")
    }
    assert {(row["origin"], row["number"]) for row in got} <= aboard


@pytest.mark.slow
def test_weather_poles_warn_of_squalls_and_keep_fair_weather_to_themselves(tmp_path: Path) -> None:
    tables = run_of("weather_poles", tmp_path)
    assert len(tables["nodes"]) == 51
    judged = tables["filter_decisions"]
    assert sum(row["released"] == 0 for row in judged) / len(judged) > 0.85
    assert len(delivered(tables)) > 50


@pytest.mark.slow
def test_valley_masts_forward_messages_without_a_carrier(tmp_path: Path) -> None:
    tables = run_of("valley", tmp_path)
    masts, poles = numbers_of(tables, "masts"), numbers_of(tables, "poles")
    assert {row["role"] for row in tables["nodes"] if row["node"] in masts} == {"forwarder"}
    told = {(row["origin"], row["number"]) for row in tables["notifications"]}
    got = delivered(tables)
    assert {(row["origin"], row["number"]) for row in got} == told
    assert {row["origin"] for row in got} <= poles
    assert not [row for row in tables["messages"] if row["node"] in masts], "masts are no part of the overlay"
    assert {row["node"] for row in tables["hops"] if row["hop"] > 1} & masts == masts
    assert [row for row in tables["node_state"] if row["node"] in masts and row["reason"] == "crash"]


@pytest.mark.slow
def test_where_it_is_dense_nothing_has_to_be_carried(tmp_path: Path) -> None:
    tables = run_of("dense", tmp_path)
    created = {(row["origin"], row["number"]): row["at_ms"] for row in tables["notifications"]}
    waited = sorted(row["at_ms"] - created[row["origin"], row["number"]] for row in delivered(tables))
    assert len(waited) > 300
    assert waited[len(waited) // 2] < 1_000


@pytest.mark.parametrize("name", ["vitals_bidmc", "weather_alamosa"])
def test_recordings_ship_with_their_notice_and_unchanged(name: str) -> None:
    notice = (DATA / f"{name}.NOTICE.txt").read_text()
    content = gzip.decompress((DATA / f"{name}.csv.gz").read_bytes())
    found = re.search(r"sha256 of the uncompressed CSV: ([0-9a-f]{64})", notice)
    assert found is not None
    assert hashlib.sha256(content).hexdigest() == found[1]
    assert "Licence:" in notice
