"""What a work budget does in a run: it is in the trace, it is repeated alike, and it loses no deliveries."""

from pathlib import Path

import pyarrow.parquet as pq

from emulation.run import RunSummary, run_scenario
from emulation.scenario import load_scenario

PLAIN = """\
name = "plain"
duration_s = 240
seed = 3
area = {{ width_m = 100, height_m = 100 }}
radio.device = {{ range_m = 60, rate_bytes_per_s = 250000 }}
overlay.limits = {limits}

[[group]]
name = "hosts"
role = ["mediator", "publisher", "subscriber"]
count = 4
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 120] }}

[[traffic]]
source = "hosts"
destination = "hosts"
first_s = 30
every_s = 1
size_bytes = 20
lifetime_s = 1800
"""
Rows = list[dict[str, object]]


def run_of(folder: Path, limits: str) -> tuple[RunSummary, Rows]:
    folder.mkdir()
    (folder / "plain.toml").write_text(PLAIN.format(limits=limits))
    scenario = load_scenario(str(folder / "plain.toml"))
    summary = run_scenario(scenario, scenario.seed, folder / "run")
    return summary, pq.read_table(folder / "run" / "trace" / "messages").to_pylist()


def delivered(rows: Rows) -> set[tuple[object, ...]]:
    return {(row["node"], row["origin"], row["number"]) for row in rows if row["kind"] == "delivered"}


def sent_after(rows: Rows, at_ms: int) -> set[tuple[object, ...]]:
    """Return the deliveries of what was made in the last seconds."""
    late = {
        (row["origin"], row["number"])
        for row in rows
        if row["kind"] == "created" and int(str(row["at_ms"])) > at_ms
    }
    return {(node, *item) for node, *item in delivered(rows) if tuple(item) in late}


def test_a_small_budget_defers_matching_and_loses_nothing(tmp_path: Path) -> None:
    small = "{ work_per_s = 1, work_burst = 1 }"
    free, rows = run_of(tmp_path / "free", "{}")
    assert (free.quarantined, free.undecided) == (0, 0)
    assert len(delivered(rows)) > 150
    bounded, small_rows = run_of(tmp_path / "one", small)
    undecided = [row for row in small_rows if row["kind"] == "undecided"]
    assert len(undecided) == bounded.undecided > 20
    assert {row["reason"] for row in undecided} == {"work"}
    assert {row["type"] for row in undecided} == {"notification"}
    assert delivered(rows) - delivered(small_rows) <= sent_after(rows, 200_000)
    assert delivered(small_rows) <= delivered(rows)
    again, same_rows = run_of(tmp_path / "two", small)
    assert (again, same_rows) == (bounded, small_rows)
    assert f"0 messages quarantined, {bounded.undecided:,} undecided" in bounded.lines()
