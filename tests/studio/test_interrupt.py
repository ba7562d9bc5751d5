"""Ctrl-C ends 130 and leaves a run that is shorter than planned and otherwise whole."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq


def interrupted(scenario: Path, out: Path, after_s: float) -> tuple[int, str, str]:
    """Start a run, press Ctrl-C some seconds after its folder appeared; return how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "studio", "run", str(scenario), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list(out.parent.rglob("trace")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=120)
    return process.returncode, printed, said


def test_a_partial_run_is_valid(dens, tmp_path: Path) -> None:
    """A busy machine may take a while to get going, so it is given longer until something was simulated."""
    assert dens("init", tmp_path / "demo").code == 0
    scenario = tmp_path / "demo" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("duration_s = 7200", "duration_s = 400000"))
    for attempt, after_s in enumerate((2.0, 8.0, 30.0)):
        place = tmp_path / str(attempt)
        place.mkdir()
        code, printed, said = interrupted(scenario, place / "run", after_s)
        assert code == 130, said
        assert "Traceback" not in said
        manifest = json.loads((place / "run" / "manifest.json").read_text())
        assert manifest["status"] == "partial"
        if manifest["simulated_ms"] > 0:
            break
    assert "partial" in printed
    assert 0 < manifest["simulated_ms"] < 400_000_000
    assert pq.read_table(place / "run" / "trace" / "nodes").num_rows == 8
    messages = pq.read_table(place / "run" / "trace" / "messages")
    assert max(messages["at_ms"].to_pylist()) <= manifest["simulated_ms"]
    assert [path.name for path in place.iterdir()] == ["run"]
