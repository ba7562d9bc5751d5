"""BBC micro:bit v1: 16 KB of RAM, MicroPython 1.9.2. Its room for subscriptions is its heap."""

from typing import Final

from dens.boards.board import Board
from watchdog.aggregators import MOST_BASIC

BOARD: Final = Board(
    name="microbit",
    spoken="a micro:bit",
    feature_bytes=1,
    aggregators=(2 << MOST_BASIC) - 1,
    block_bytes=1024,
    most_blocks=4096,
    capacity=44,
    algorithms=("fnifs", "fnif"),
    is_sharing=False,
    is_flat=True,
)
