"""Ctrl-C ends 130 and leaves a run that is shorter than planned and otherwise whole."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq


def test_a_partial_run_is_valid(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "studio.main", "run", "rescue", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("trace")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "partial" in printed
    assert "Traceback" not in said
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["status"] == "partial"
    assert 0 < manifest["simulated_ms"] < 1000 * manifest["scenario"]["duration_s"]
    nodes = pq.read_table(out / "trace" / "nodes")
    messages = pq.read_table(out / "trace" / "messages")
    assert nodes.num_rows == 19
    assert max(messages["at_ms"].to_pylist()) <= manifest["simulated_ms"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
