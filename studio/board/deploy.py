"""Copies a built folder to a board with `mpremote`."""

import subprocess
from pathlib import Path

from studio.board.build import FLAT_BOARDS, built
from studio.board.tools import find_mpremote
from studio.failures import Refusal

_RECEIVES = 60
"""A micro:bit's serial line holds so many characters while the board is busy; more at once are lost."""


def deploy_board(port: str, folder: Path, timeout_s: float = 300) -> list[str]:
    """Put the folder's files on the board at this port, and restart it; return their names on the board.

    A micro:bit has neither folders nor the calls by which `mpremote` copies, so its files are written by
    small programs that run there.
    """
    facts = built(folder)
    command, environment = find_mpremote()
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
        steps += ["soft-reset"]
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
        said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise Refusal(f"mpremote could not write to {port}: {said[-1]}")
    return names


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
