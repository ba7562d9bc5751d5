"""Fifty million rows: every question of the report is answered, and no process grows without bound."""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.spark.trace_rows import END_MS, write_trace

ROWS = 50_000_000
MOST_BYTES = 6 * 2**30
"""Of all processes together: Java with the heap that every session has, and two Python workers."""


def family(root: int) -> list[int]:
    """Return a process and all that it started."""
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        for task in Path(f"/proc/{process}/task").glob("*/children"):
            with suppress(OSError):  # Java's threads come and go
                waiting += map(int, task.read_text().split())
    return found


def resident_bytes(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def test_fifty_million_rows_in_bounded_memory(tmp_path: Path) -> None:
    owed = write_trace(tmp_path / "rows", ROWS)
    command = [sys.executable, "-m", "dens.cli", "report", str(tmp_path / "rows"), "--json"]
    with (tmp_path / "out.json").open("w") as out:
        report = subprocess.Popen(command, stdout=out)
        peak = 0

        def watch() -> None:
            nonlocal peak
            while report.poll() is None:
                together = 0
                for process in family(report.pid):
                    try:
                        together += resident_bytes(process)
                    except OSError:  # it has ended since
                        continue
                peak = max(peak, together)
                time.sleep(0.5)

        watcher = threading.Thread(target=watch)
        watcher.start()
        report.wait()
        watcher.join()
    assert report.returncode == 0
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["delivery"]["total"]["owed"] == owed
    assert document["run"]["end_s"] == END_MS / 1000
    assert document["filtering"]["judged"] == ROWS // 10
    assert 0 < peak < MOST_BYTES, f"{peak / 2**30:.1f} GB"
