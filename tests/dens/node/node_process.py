"""Nodes and their ends as processes, and the files that they need, for tests."""

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.paths import ROOT

PATIENT = ROOT / "docs" / "examples" / "patient.xml"
LONG_S = 240.0
"""A process is there after two seconds; on a machine that is busy it may take minutes."""


class Process:
    """A command in a process of its own, whose documents are read as they come."""

    def __init__(self, *arguments: str | Path, within: Sequence[str] = ()) -> None:
        self._process = subprocess.Popen(
            [*within, sys.executable, "-m", "dens.cli", "node", *map(str, arguments), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._told: queue.Queue[dict[str, Any]] = queue.Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """Return the process's number."""
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._told.put(json.loads(line))
        finally:
            self._told.put({"event": "output ended"})

    def wait_for(self, **facts: Any) -> dict[str, Any]:
        """Return the next document that has these facts."""
        while True:
            told = self._told.get(timeout=LONG_S)
            if all(told.get(name) == value for name, value in facts.items()):
                return told
            assert told["event"] != "output ended", (facts, self._process.stderr.read())  # type: ignore[union-attr]

    def end(self, how: signal.Signals | None = None) -> int:
        """Send a signal, or wait for its own end; return how it ended."""
        if how is not None:
            self._process.send_signal(how)
        code = self._process.wait(timeout=LONG_S)
        self._thread.join(timeout=LONG_S)
        assert self._process.stderr is not None
        self.said = self._process.stderr.read()
        assert "Traceback" not in self.said, self.said
        return code

    def signal(self, which: signal.Signals) -> None:
        """Send a signal that does not end it."""
        self._process.send_signal(which)

    def rest(self) -> list[dict[str, Any]]:
        """Return the events that were reported and not waited for."""
        return [self._told.get_nowait() for _ in range(self._told.qsize())]

    def clear_away(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def processes() -> Iterator[Callable[..., Process]]:
    """Make processes, none of which outlives the test."""
    started: list[Process] = []

    def start(*arguments: str | Path, within: Sequence[str] = ()) -> Process:
        started.append(Process(*arguments, within=within))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.clear_away()


def node_file(folder: Path, node: int, more: str = "", address: str = "127.0.0.1:0", key: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "node.toml"
    named = f'key = "{key}"\n' if key else ""
    path.write_text(
        f'node = {node}\nstore = "node.sqlite"\nvocabularies = ["medical"]\n{named}'
        f'[udp]\naddress = "{address}"\n{more}'
    )
    return path


def recording(folder: Path) -> Path:
    path = folder / "day.csv"
    path.write_text("patient_temperature,heart_rate,oxygen_saturation\n36.8,71,98\n40.1,134,88\n37,70,97\n")
    return path


def listening(path: Path, *more: str | Path) -> list[str | Path]:
    """Return the command of a subscriber that has no peer and ends at once."""
    return ["node", "subscribe", path, "--at", "127.0.0.1:9", "--seconds", "0", *more]
