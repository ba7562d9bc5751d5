"""Runs: the same again from the same seed, whole or not at all, and partial when interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from dens.overlay.policies.registry import POLICIES
from dens.trace.comparison import compare_until
from dens.trace.folder_lock import FolderLock
from dens.trace.schema import TABLES
from dens.trace.tables import rows_of
from dens.trace.writer import TraceError
from emulation.run import Progress, run_scenario
from emulation.scenario import load_scenario
from tests.paths import ROOT

WriteScenario = Callable[..., Path]

RUN = """
import sys
from pathlib import Path
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from dens.trace.folder_lock import FolderLock
run_scenario(load_scenario(Path(sys.argv[1])), int(sys.argv[2]), Path(sys.argv[3]))
"""


def run_in_process(scenario: Path, seed: int, out: Path, hash_seed: str) -> None:
    subprocess.run(
        [sys.executable, "-c", RUN, str(scenario), str(seed), str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
    )


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.*"))}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    scenario = write_scenario()
    for out, hash_seed in (("one", "1"), ("two", "4242")):
        run_in_process(scenario, 5, tmp_path / out, hash_seed)
    run_scenario(load_scenario(scenario), 6, tmp_path / "other")
    one, two, other = (files_below(tmp_path / out) for out in ("one", "two", "other"))
    assert one == two
    assert {name for name in one if name.startswith("trace/messages")} <= set(other)
    for table in ("motion", "contacts", "messages", "filter_decisions"):
        parts = [name for name in one if name.startswith(f"trace/{table}/")]
        assert [one[name] for name in parts] != [other.get(name) for name in parts]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_runs_and_none_changes_motion_or_contacts(
    write_scenario: WriteScenario, tmp_path: Path, policy: str
) -> None:
    run_scenario(load_scenario(write_scenario()), 5, tmp_path / "usual")
    scenario = load_scenario(write_scenario(("seed = 5", f'seed = 5\noverlay.policy = "{policy}"')))
    summary = run_scenario(scenario, 5, tmp_path / policy)
    assert summary.delivered > 0
    for table in ("nodes", "motion", "contacts"):
        usual = files_below(tmp_path / "usual" / "trace" / table)
        assert files_below(tmp_path / policy / "trace" / table) == usual


def test_neither_traffic_nor_loss_changes_motion_or_contacts(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    asking = '[[subscription]]\ngroup = "medics"\nfile = "fever.xml"\n'
    run_scenario(load_scenario(write_scenario()), 5, tmp_path / "traffic")
    run_scenario(load_scenario(write_scenario((asking, ""))), 5, tmp_path / "silence")
    run_scenario(load_scenario(write_scenario(("loss = 0.05", "loss = 0.5"))), 5, tmp_path / "loss")
    for table in ("nodes", "motion", "contacts"):
        with_traffic = files_below(tmp_path / "traffic" / "trace" / table)
        assert with_traffic == files_below(tmp_path / "silence" / "trace" / table)
        assert with_traffic == files_below(tmp_path / "loss" / "trace" / table)
    messages = [files_below(tmp_path / run / "trace" / "messages") for run in ("traffic", "loss")]
    assert messages[0] != messages[1]


def test_a_run_leaves_manifest_trace_and_summary(write_scenario: WriteScenario, tmp_path: Path) -> None:
    steps: list[Progress] = []
    scenario = load_scenario(write_scenario())
    summary = run_scenario(scenario, 5, tmp_path / "run", steps.append)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "inputs",
        "manifest.json",
        "summary.json",
        "trace",
    ]
    assert not list(tmp_path.glob(".run*"))
    assert {path.name for path in (tmp_path / "run" / "trace").iterdir()} == set(TABLES)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert (manifest["schema_version"], manifest["status"], manifest["seed"]) == (4, "complete", 5)
    assert manifest["simulated_ms"] == 3_600_000
    assert manifest["scenario"]["group"][1]["name"] == "helpers"
    assert "patient_temperature" in manifest["subscription_documents"]["fever.xml"]
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary.as_document()
    assert summary.status == "complete"
    assert summary.delivered > 0
    assert 0 < summary.readings_kept < summary.readings
    assert steps[-1].simulated_s == steps[-1].duration_s == 3600
    assert [step.simulated_s for step in steps] == sorted(step.simulated_s for step in steps)


def test_sensor_starts_at_its_configured_time(write_scenario: WriteScenario, tmp_path: Path) -> None:
    recording = "".join(f"{second},{36 + second / 100}\n" for second in range(0, 200, 20))
    (tmp_path / "bed.csv").write_text("t,temp\n" + recording)
    source = 'source = { csv = "bed.csv", time_column = "t", columns = { patient_temperature = "temp" } }'
    path = write_scenario(
        ("every_s = 30", "at_s = 900\nevery_s = 30"),
        ('source = { generator = "vital_signs", deteriorating = 1.0 }', source),
    )
    run_scenario(load_scenario(path), 5, tmp_path / "run")
    judged = pq.read_table(tmp_path / "run" / "trace" / "filter_decisions").to_pylist()
    assert 900_000 <= min(row["at_ms"] for row in judged) < 930_000
    assert max(row["at_ms"] for row in judged) < 1_110_000
    values = [row["values"][0] for row in judged if row["node"] == 5]
    assert values == sorted(values)
    assert len(set(values)) > 3
    with pytest.raises(DocumentError, match=r"sensor\[0\]\.at_s: 3600 s is not within the run"):
        load_scenario(path, ["sensor[0].at_s=3600"])


def test_an_interruption_leaves_a_valid_shorter_run(write_scenario: WriteScenario, tmp_path: Path) -> None:
    def interrupt(step: Progress) -> None:
        if step.simulated_s >= 1800:
            raise KeyboardInterrupt

    scenario = load_scenario(write_scenario())
    whole = run_scenario(scenario, 5, tmp_path / "whole")
    partial = run_scenario(scenario, 5, tmp_path / "partial", interrupt)
    assert (partial.status, partial.simulated_s) == ("partial", 1800.0)
    assert 0 < partial.readings < whole.readings
    manifest = json.loads((tmp_path / "partial" / "manifest.json").read_text())
    assert (manifest["status"], manifest["simulated_ms"]) == ("partial", 1_800_000)
    for table in TABLES:
        part = pq.read_table(tmp_path / "partial" / "trace" / table).to_pylist()
        all_rows = pq.read_table(tmp_path / "whole" / "trace" / table).to_pylist()
        assert part == all_rows[: len(part)]


def test_the_signal_of_a_terminal_leaves_a_valid_run(write_scenario: WriteScenario, tmp_path: Path) -> None:
    long = write_scenario(("duration_s = 3600", "duration_s = 3600000"))
    code = RUN.replace("run_scenario(load", "print('started', flush=True)\nrun_scenario(load")
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(long), "5", str(tmp_path / "run")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    deadline = time.monotonic() + 60  # a busy machine takes a while to load a scenario
    while not (tmp_path / "run" / "trace" / "nodes").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["status"] == "partial"
    assert pq.read_table(tmp_path / "run" / "trace" / "nodes").num_rows in (0, 8)
    assert not list(tmp_path.rglob(".*"))


def test_earlier_run_is_replaced_only_on_request(write_scenario: WriteScenario, tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(("duration_s = 3600", "duration_s = 60")))
    out = tmp_path / "run"
    run_scenario(scenario, 5, out)
    before = files_below(out)
    with pytest.raises(FileExistsError, match="holds an earlier run"):
        run_scenario(scenario, 6, out)
    assert files_below(out) == before
    run_scenario(scenario, 6, out, force=True)
    assert json.loads((out / "manifest.json").read_text())["seed"] == 6
    assert not list(tmp_path.glob(".run*"))


def test_a_run_can_be_followed_while_it_grows(
    write_scenario: WriteScenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the manifest says is simulated, the trace holds."""
    monkeypatch.setattr("emulation.run._ROWS_BETWEEN", 100)
    out = tmp_path / "run"
    seen: list[tuple[int, int]] = []

    def follow(step: Progress) -> None:
        manifest = json.loads((out / "manifest.json").read_text())
        assert manifest["status"] == "running"
        assert manifest["simulated_ms"] <= 1000 * step.simulated_s
        readings = pq.read_table(out / "trace" / "filter_decisions")["at_ms"].to_pylist()
        assert len(list((out / "trace").iterdir())) == len(TABLES)
        seen.append((manifest["simulated_ms"], len(readings)))

    scenario = load_scenario(write_scenario())
    run_scenario(scenario, 5, out, follow)
    readings = pq.read_table(out / "trace" / "filter_decisions")["at_ms"].to_pylist()
    assert len(set(seen)) > 5
    assert all(amount >= sum(at_ms < until_ms for at_ms in readings) for until_ms, amount in seen)
    assert json.loads((out / "manifest.json").read_text())["status"] == "complete"


def test_a_killed_run_says_that_it_is_running_and_can_be_replaced(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    long = write_scenario(("duration_s = 3600", "duration_s = 3600000"))
    process = subprocess.Popen([sys.executable, "-c", RUN, str(long), "5", str(out)], cwd=ROOT)
    deadline = time.monotonic() + 60
    while not list(out.glob("trace/buffers/part-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert json.loads((out / "manifest.json").read_text())["status"] == "running"
    assert pq.read_table(out / "trace" / "nodes").num_rows == 8
    short = load_scenario(write_scenario(("duration_s = 3600", "duration_s = 60")))
    with pytest.raises(FileExistsError, match="holds an earlier run"):
        run_scenario(short, 6, out)
    assert run_scenario(short, 6, out, force=True).status == "complete"


def test_an_earlier_run_comes_back_when_its_replacement_fails(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    def fail(step: Progress) -> None:
        raise RuntimeError("a bug")

    scenario = load_scenario(write_scenario(("duration_s = 3600", "duration_s = 60")))
    out = tmp_path / "run"
    run_scenario(scenario, 5, out)
    before = files_below(out)
    with pytest.raises(RuntimeError, match="a bug"):
        run_scenario(scenario, 6, out, fail, force=True)
    assert files_below(out) == before
    out.rename(tmp_path / ".run.replaced")  # Killed while it replaced, before it wrote anything.
    with pytest.raises(FileExistsError, match="holds an earlier run"):
        run_scenario(scenario, 6, out)
    (tmp_path / ".run.replaced").mkdir()
    (tmp_path / ".run.replaced" / "manifest.json").write_text("{}")  # Killed later.
    with pytest.raises(RuntimeError, match="a bug"):
        run_scenario(scenario, 6, out, fail, force=True)
    assert [path.name for path in out.iterdir()] == ["manifest.json"]


def test_the_manifest_holds_every_document_that_the_run_was_made_of(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    source = ROOT / "knowledge_manager" / "vocabularies" / "weather.toml"
    (tmp_path / "own.toml").write_text(source.read_text() + "# mine\n")
    path = write_scenario(
        ('["medical"]', '["medical", "own.toml"]'), ("duration_s = 3600", "duration_s = 60")
    )
    run_scenario(load_scenario(path), 5, tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["vocabulary_documents"]["own.toml"].endswith("# mine\n")
    assert 'name = "medical"' in manifest["vocabulary_documents"]["medical"]
    assert manifest["subscription_documents"]["fever.xml"] == (tmp_path / "fever.xml").read_text()


def test_folder_without_a_run_is_never_replaced(write_scenario: WriteScenario, tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario())
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "monday.txt").write_text("rain")
    with pytest.raises(FileExistsError, match="not a run"):
        run_scenario(scenario, 5, tmp_path / "diary", force=True)
    with pytest.raises(FileExistsError, match="is a file"):
        run_scenario(scenario, 5, tmp_path / "diary" / "monday.txt", force=True)
    assert (tmp_path / "diary" / "monday.txt").read_text() == "rain"


def test_a_place_that_cannot_be_written_to_is_an_os_error(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    scenario = load_scenario(write_scenario())
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="cannot write there"):
        run_scenario(scenario, 5, tmp_path / "file" / "run")


def test_a_disk_that_fills_up_leaves_nothing(write_scenario: WriteScenario, tmp_path: Path) -> None:
    code = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4000, 10**9))\n" + RUN
    run = subprocess.run(
        [sys.executable, "-c", code, str(write_scenario()), "5", str(tmp_path / "out" / "run")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "cannot write the trace" in run.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_folder_being_written_is_not_replaced(write_scenario: WriteScenario, tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario())
    run_scenario(scenario, 5, tmp_path / "run")
    before = files_below(tmp_path / "run")
    hold = FolderLock(tmp_path / "run")
    with pytest.raises(FileExistsError, match="is being written by another process"):
        run_scenario(scenario, 6, tmp_path / "run", force=True)
    hold.release()
    assert files_below(tmp_path / "run") == before


def test_rows_do_not_depend_on_when_expiries_were_reported(tmp_path: Path) -> None:
    """Another end of the run means other checkpoints, at which expiries are reported."""
    scenario = load_scenario("one_a", ["duration_s=5400", "traffic[0].lifetime_s=900"])
    run_scenario(scenario, 1, tmp_path / "whole")
    run_scenario(scenario, 1, tmp_path / "shorter", until_ms=4_321_000)
    compared = compare_until(tmp_path / "whole", tmp_path / "shorter", 4_321_000)
    assert compared.tables == ()
    rows = [(row["at_ms"], row["kind"]) for row in rows_of(tmp_path / "whole", "messages")]
    assert [at_ms for at_ms, _ in rows] == sorted(at_ms for at_ms, _ in rows)
    assert sum(kind == "expired" for _, kind in rows) > 1_000
