"""Ctrl-C ends 130, says what is left behind, and leaves a run that is shorter but otherwise whole."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.core import TyperGroup

from tests.paths import ROOT

PRESS = """
import os, signal, sys, threading, time

def press() -> None:
    while not hasattr(sys.modules.get({module!r}), {name!r}):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=press, daemon=True).start()
from dens.cli.main import main
main(sys.argv[1:])
"""
"""Presses Ctrl-C as soon as a command, which alone imports the module, has it."""


@pytest.mark.parametrize(
    ("words", "module", "name"),
    [
        (["contacts", "one_c", "-o", "met.txt"], "emulation.scenario.loading", "load_scenario"),
        (
            ["replay", "--contacts", "met.txt", "--messages", "met.txt", "--json"],
            "emulation.replay.flood",
            "replay",
        ),
    ],
)
def test_a_command_that_is_interrupted_says_what_it_left(
    tmp_path: Path, words: list[str], module: str, name: str
) -> None:
    if words[0] == "replay":
        lines = (
            f"{at} CONN {at % 97} {100 + at % 89} {way}" for at in range(1, 200_000) for way in ("up", "down")
        )
        (tmp_path / "met.txt").write_text("\n".join(lines))
    ended = subprocess.run(
        [sys.executable, "-c", PRESS.format(module=module, name=name), *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted; nothing was written\n")
    assert [path.name for path in tmp_path.iterdir()] == (["met.txt"] if words[0] == "replay" else [])


def test_ctrl_c_during_argument_parsing_is_reported(dens, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TyperGroup, "make_context", pressed)
    ended = dens("node", "run", "node.toml")
    assert (ended.code, ended.err.strip()) == (130, "interrupted; nothing was written")


def interrupted(scenario: Path, out: Path, after_s: float) -> tuple[int, str, str]:
    """Start a run, press Ctrl-C some seconds after its folder appeared; return how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dens.cli", "run", str(scenario), "--out", str(out)],
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


@pytest.mark.slow
def test_a_partial_run_is_valid(dens, tmp_path: Path) -> None:
    """A busy machine may take a while to get going, so it is given longer until something was simulated."""
    assert dens("init", tmp_path / "demo").code == 0
    scenario = tmp_path / "demo" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("duration_s = 7200", "duration_s = 4000000"))
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
    assert 0 < manifest["simulated_ms"] < 4_000_000_000
    assert pq.read_table(place / "run" / "trace" / "nodes").num_rows == 8
    messages = pq.read_table(place / "run" / "trace" / "messages")
    assert max(messages["at_ms"].to_pylist()) <= manifest["simulated_ms"]
    assert [path.name for path in place.iterdir()] == ["run"]


def test_a_run_that_was_interrupted_at_once_is_summed_up_all_the_same(tmp_path: Path) -> None:
    from dens.app.runs.summary import delivery_line, delivery_of_run

    assert delivery_line(delivery_of_run(tmp_path / "nothing", 0)).startswith("0 of 0 expected deliveries")
