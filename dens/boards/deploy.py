"""Copies a built folder to a board with `mpremote`."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from dens.boards.built_folder import built
from dens.boards.registry import FLAT_BOARDS
from dens.boards.tools import find_mpremote
from dens.config.refusal import Refusal

_RECEIVES = 60
"""A micro:bit's serial line holds this many characters while the board is busy; more at once are lost."""
_AWAY_S = 1.5
_BACK_S = 5.0
"""After a reset a board's port is away for a moment; its grace (GRACE_MS in main.py) is longer than both."""


def deploy_board(port: str, folder: Path, timeout_s: float = 300) -> list[str]:
    """Put the folder's files on the board at this port, and restart it; return their names on the board.

    A micro:bit has neither folders nor the calls by which `mpremote` copies, so its files are written by
    small programs that run there. A Pico or an ESP32 is reset first: once its program has run for a while,
    the hardware's watchdog timer cannot be stopped any more and would restart the board amid the copying. It
    is reset afterwards too, because main.py does not run after mpremote's soft reset.
    """
    facts = built(folder)
    names = list(facts["files"])
    steps: list[str] = []
    if facts["board"] in FLAT_BOARDS:
        for name in names:
            for program in writing_programs(name, (folder / name).read_bytes()):
                steps += ["exec", program]
        steps += ["exec", "--no-follow", "import microbit\nmicrobit.reset()\n"]
    else:
        folders = sorted({str(Path(name).parent) for name in names} - {"."})
        for name in folders:
            steps += ["exec", f"import os\ntry:\n os.mkdir({name!r})\nexcept OSError:\n pass\n"]
        for name in names:
            steps += ["fs", "cp", str(folder / name), ":" + name, "+"]
        steps += ["reset"]
        _mpremote(port, ["reset"], timeout_s)
        _wait_for(port)
    _mpremote(port, steps, timeout_s)
    return names


def _wait_for(port: str) -> None:
    """Give a board that was reset the time to come back; it is then in the grace in which it can be stopped.

    A port that is not a path (COM3) gets a fixed time.
    """
    time.sleep(_AWAY_S)
    end = time.monotonic() + _BACK_S
    while "/" in port and not Path(port).exists() and time.monotonic() < end:
        time.sleep(0.1)


def _mpremote(port: str, steps: Sequence[str], timeout_s: float) -> None:
    """Run mpremote with the board at this port; raise `Refusal` with its message if it fails."""
    command, environment = find_mpremote()
    try:
        done = subprocess.run(
            [*command, "connect", port, *steps],
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise Refusal(f"the board at {port} does not answer; unplug it and plug it in again") from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise Refusal(f"mpremote could not write to {port}: {lines[-1]}")


def writing_programs(name: str, content: bytes) -> list[str]:
    """Return programs that, run one after the other, write one file on a board without folders.

    None is longer than what the board's serial line holds.
    """
    programs = [f"f=open({name!r},'wb')\n"]
    at = 0
    while at < len(content):
        size = _RECEIVES
        while len(program := f"f.write({content[at : at + size]!r})\n") > _RECEIVES:
            size -= 1
        programs.append(program)
        at += size
    return [*programs, "f.close()\n"]
