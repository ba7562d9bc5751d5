"""A child that is tied to us ends with us, however we end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.paths import ROOT

SLEEPER = """
import subprocess, sys, time
from dens.boards.emulator.microbit import die_with_parent
child = subprocess.Popen(["sleep", "3600"], preexec_fn=die_with_parent())
print(child.pid, flush=True)
time.sleep(3600)
"""
BOARD = """
import time
from dens.boards.emulator.microbit import started
with started({"main.py": "while True:pass"}, "stdio") as child:
    print(child.pid, flush=True)
    time.sleep(3600)
"""


def is_running(process: int) -> bool:
    """Return whether there is such a process that is not merely waiting to be buried."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parents")
@pytest.mark.parametrize("deadly", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "program", [pytest.param(SLEEPER, id="sleep"), pytest.param(BOARD, id="board", marks=pytest.mark.board)]
)
def test_a_child_ends_when_its_parent_is_killed(program: str, deadly: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.send_signal(deadly)
        assert parent.wait() == -deadly
    try:
        for _ in range(1_200):
            if not is_running(child):
                break
            time.sleep(0.05)
        assert not is_running(child)
    finally:
        if is_running(child):
            os.kill(child, signal.SIGKILL)
