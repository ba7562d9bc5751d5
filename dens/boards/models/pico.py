"""Raspberry Pi Pico W. Its room for subscriptions is its pool."""

from typing import Final

from dens.boards.board import Board
from watchdog.aggregators import KNOWN_AGGREGATORS

BOARD: Final = Board(
    name="pico",
    spoken="a pico",
    feature_bytes=1,
    aggregators=KNOWN_AGGREGATORS,
    block_bytes=2048,
    most_blocks=8,
    capacity=4096,
    algorithms=("fnifc", "fnifs", "fnif"),
    chip="armv6m",
    light='"LED"',
    sensors="sensors_pico",
)
