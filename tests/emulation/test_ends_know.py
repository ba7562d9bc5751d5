"""Endpoints with knowledge, in a scenario: unservable subscriptions are traced; deliveries are the same."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from emulation.run import run_scenario
from emulation.scenario import load_scenario


def messages(out: Path, *changes: str) -> list[dict[str, Any]]:
    run_scenario(load_scenario("two_islands", ["duration_s=3600", *changes]), 3, out)
    rows: list[dict[str, Any]] = pq.read_table(out / "trace" / "messages").to_pylist()
    return rows


def test_unservable_subscription_is_reported_and_nothing_else_changes(tmp_path: Path) -> None:
    quiet = messages(tmp_path / "quiet")
    knowing = messages(tmp_path / "knowing", "overlay.ends_know=true")
    assert {row["type"] for row in quiet}.isdisjoint({"lookup", "offers"})
    assert {row["type"] for row in knowing} >= {"lookup", "offers"}
    assert [row["kind"] for row in quiet].count("unserved") == 0
    unserved = [row for row in knowing if row["kind"] == "unserved"]
    assert {row["type"] for row in unserved} == {"subscribe"}
    assert len({(row["origin"], row["number"]) for row in unserved}) == 3, (
        "publishers are on the other island"
    )
    delivered = [
        {(row["node"], row["origin"], row["number"]) for row in rows if row["kind"] == "delivered"}
        for rows in (quiet, knowing)
    ]
    assert delivered[0] == delivered[1] != set()


def test_a_manifest_names_it_only_where_it_is_so(tmp_path: Path) -> None:
    for name, changes in (("quiet", []), ("knowing", ["overlay.ends_know=true"])):
        messages(tmp_path / name, *changes)
        manifest = json.loads((tmp_path / name / "manifest.json").read_text())
        assert ("ends_know" in manifest["scenario"]["overlay"]) is (name == "knowing")
