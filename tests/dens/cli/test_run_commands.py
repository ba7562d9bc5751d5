"""`dens run` with its options, `dens rerun` and `dens compare` on the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.fixture
def scenario(dens, tmp_path: Path) -> Path:
    assert dens("init", tmp_path / "demo").code == 0
    path = tmp_path / "demo" / "scenario.toml"
    path.write_text(path.read_text().replace("duration_s = 7200", "duration_s = 600"))
    return path


def test_keys_are_changed_from_outside(dens, scenario: Path, tmp_path: Path) -> None:
    ended = dens(
        "run", scenario, "--set", "duration_s=60", "--set", "title=short", "--out", tmp_path / "run", "--json"
    )
    assert ended.document()["simulated_s"] == 60.0
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["scenario"]["title"] == "short"
    wrong = dens("run", scenario, "--set", "duration_s=-1", "--out", tmp_path / "wrong")
    assert wrong.code == 3
    assert "duration_s" in wrong.err
    assert dens("run", scenario, "--set", "gruop[0].count=1", "--out", tmp_path / "wrong").code == 3
    for malformed in ("x", "=3", "seed=1\nname=x"):
        assert dens("run", scenario, "--set", malformed, "--out", tmp_path / "wrong").code == 2
    assert not (tmp_path / "wrong").exists()


def test_recorded_value_outside_its_domain_is_reported(dens, scenario: Path, tmp_path: Path) -> None:
    recording = scenario.parent / "readings.csv"
    lines = recording.read_text().splitlines()
    header, first, *rest = lines
    changed = [first.rsplit(",", 1)[0] + ",-999", *rest]
    recording.write_text("\n".join([header, *changed]) + "\n")
    checked = dens("check", scenario)
    assert checked.code == 0
    assert f"{recording}:2:1: warning D322: " in checked.out
    ended = dens("run", scenario, "--set", "duration_s=60", "--out", tmp_path / "run")
    assert ended.code == 0
    assert "warning D322" in ended.err
    told = dens("run", scenario, "--set", "duration_s=60", "--out", tmp_path / "b", "--progress", "json")
    assert json.loads(told.err.splitlines()[0])["warning"]["line"] == 2


def test_progress_is_one_line_of_json_a_step(dens, scenario: Path, tmp_path: Path) -> None:
    ended = dens("run", scenario, "--out", tmp_path / "run", "--progress", "json")
    steps = [json.loads(line) for line in ended.err.splitlines()]
    assert len(steps) == 200
    assert set(steps[0]) == {"scenario", "simulated_s", "duration_s", "delivered", "sent", "speed"}
    assert steps[-1]["simulated_s"] == steps[-1]["duration_s"] == 600.0
    assert dens("run", scenario, "--out", tmp_path / "other", "--progress", "xml").code == 2


@pytest.mark.slow
def test_many_seeds_run_at_once(dens_process, scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "many"
    ended = dens_process(
        "run", scenario, "--seed", "3..4,9", "-j", "2", "--out", out, "--json", "--progress", "json"
    )
    assert ended.code == 0, ended.err
    assert [run["seed"] for run in ended.document()["runs"]] == [3, 4, 9]
    assert sorted(path.name for path in out.iterdir()) == ["seed-3", "seed-4", "seed-9"]
    told = [json.loads(line) for line in ended.err.splitlines()]
    assert [(line["done"], line["of"]) for line in told] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("seed", ["x", "5..1", "-3", ""])
def test_invalid_seed_is_a_usage_error(dens, scenario: Path, seed: str) -> None:
    assert dens("run", scenario, f"--seed={seed}").code == 2


@pytest.mark.slow
def test_interrupted_replications_are_valid_partial_runs(scenario: Path, tmp_path: Path) -> None:
    scenario.write_text(scenario.read_text().replace("duration_s = 600", "duration_s = 4000000"))
    out = tmp_path / "many"
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "dens.cli",
            "run",
            str(scenario),
            "--seed",
            "1..4",
            "-j",
            "2",
            "--out",
            str(out),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(out.glob("*/trace"))) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "interrupted: partial: 1, 2; not begun: 3, 4" in said
    assert sorted(path.name for path in out.iterdir()) == ["seed-1", "seed-2"]
    for run in out.iterdir():
        assert json.loads((run / "manifest.json").read_text())["status"] == "partial"


def test_a_run_is_done_again_and_compared(dens, scenario: Path, tmp_path: Path) -> None:
    first = tmp_path / "first"
    assert dens("run", scenario, "--out", first).code == 0
    scenario.unlink()
    ended = dens("rerun", first)
    assert ended.code == 0
    assert "same trace, byte for byte" in ended.out
    assert dens("compare", first, tmp_path / "first-again").out == "same trace, byte for byte\n"
    assert dens("rerun", first).code == 3  # there is a run already
    assert dens("rerun", first, "--force", "--json").document()["comparison"]["same_trace"] is True


def test_different_runs_are_a_finding(dens, scenario: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        assert dens("run", scenario, "--seed", seed, "--out", tmp_path / seed).code == 0
    ended = dens("compare", tmp_path / "1", tmp_path / "2")
    assert ended.code == 1
    assert ended.out.startswith("traces differ in motion")
    assert "seed: 1 | 2" in ended.out
    assert "motion" in dens("compare", tmp_path / "1", tmp_path / "2", "--json").document()["tables"]
    part = tmp_path / "2" / "trace" / "motion" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:100])
    damaged = dens("compare", tmp_path / "1", tmp_path / "2")
    assert damaged.code == 3
    assert "part-00000.parquet: error D384: this part of the trace cannot be read" in damaged.err
    nothing = dens("compare", tmp_path / "1", tmp_path)
    assert nothing.code == 3
    assert "is not a run" in nothing.err
