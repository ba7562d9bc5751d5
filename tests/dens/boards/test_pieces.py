"""A board that is loaded piece by piece."""

import pytest

from dens.boards.emulator.microbit import run_on_microbit
from dens.boards.optimiser.chunking import laid_out

SETTING_UP = """
from random import randrange

print("loading")
room = bytearray(9000 if randrange(3) else 9)
"""
RUNNING = """
def run():
    print("running")
"""


@pytest.mark.board
def test_board_out_of_memory_while_loading_restarts() -> None:
    files = laid_out({}, {"setup": SETTING_UP, "user": RUNNING}, start="run()\nprint('--end--')\n")
    said = [run_on_microbit(files, seed=seed).splitlines() for seed in range(1, 5)]
    assert all(lines[-1] == "running" and set(lines[:-1]) == {"loading"} for lines in said)
    assert max(len(lines) for lines in said) > 2, "one of them had to start more than once"
