"""What a Cartesian-product form costs on the emulated micro:bit beside the filter of an algorithm.

Readings are judged with the heap unlocked: its interpreter puts the frame of a function with many variables
into the heap while it runs, and only where there is none on the stack, which is too small for those of
functions broken down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dens.boards.costs.board_programs import FILLING, FREE, SETUP, START
from dens.boards.emulator.microbit import INSTRUCTION_NS, run_on_microbit
from dens.boards.filter_parts import filter_parts
from dens.boards.optimiser.chunking import laid_out

JUDGED: Final[Mapping[str, Mapping[str, tuple[int, bytes]]]] = {
    "patterns": {"and, exact": (15, b"\x01\x80"), "and, broken down": (14, b"\x01\x80")},
    "functions": {
        "geometric mean": (7, b"\x01\x00"),
        "table of order 0": (7, b"\x08\x02\x02\x00\xff\x00\x00\x00\xff"),
        "table of order 1": (8, b"\x10\x02\x02\x00\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00"),
    },
}
"""Aggregator and block of what is judged."""

_TIMING = """
from utime import ticks_us
from program import pool, scan


def run():
    row = bytearray(8)
    mask = bytearray(b"\\x07")
    vector = bytearray(40)
    for kind, block in JUDGED:
        while pool.count:
            pool.remove((len(pool.blocks) - 1 << 16) + pool.header())
        x = 4711
        for number in range(10):
            end = 6
            for i in block:
                vector[end] = i
                end += 1
            for i in range(3):
                x = (x * 1021 + 7919) % 1048573
                vector[end] = x >> 12
                vector[end + 1] = min(255, vector[end] + 20)
                vector[end + 2] = 36 + (x & 63)
                end += 3
            vector[end] = 1
            vector[end + 1] = 7
            vector[5] = 240 | kind
            pool.put(1, number, 0, 1000, vector, 5, end + 2)
        scan.prepare()
        spent = refused = 0
        for reading in range(12):
            for i in range(3):
                x = (x * 1021 + 7919) % 1048573
                row[i] = x >> 12
            begin = ticks_us()
            scan.begin(0, 7, 9, row, mask)
            degree = scan.advance()
            end = ticks_us()
            if degree == 0:
                spent += end - begin
                refused += 10
        print("us", spent, refused)
"""


@dataclass(frozen=True, slots=True)
class FormCost:
    """What one form costs: the heap of its filter and the program that measures, how many plain subscriptions
    to three attributes fit beside it, and instructions for one with the form that is refused.
    """

    forms: str
    algorithm: str
    heap_bytes: int
    resident_subscriptions: int
    instructions: dict[str, int]


def form_cost(forms: str, algorithm: str) -> FormCost:
    """Measure a form beside an algorithm, without distances, as a board without its link has it."""
    made = filter_parts(algorithm, is_quick=False, forms=forms)
    record = 22 if algorithm == "fnif" else 18

    def said(program: str) -> list[list[str]]:
        files = laid_out(
            {"core": made.core, "scan": made.scan},
            {"program": made.setup(SETUP), "user": program},
            {**made.assumed, "BLOCK_BYTES": 5 + record * 18},
            START,
            FREE,
            inlined=made.inlined,
        )
        return [line.split() for line in run_on_microbit(files).splitlines()]

    filled = said(FILLING)
    free = [int(line[1]) for line in filled if line[0] == "free"]
    [held] = [int(line[1]) for line in filled if line[0] == "held"]
    timed = said(_TIMING.replace("JUDGED", repr(tuple(JUDGED[forms].values()))))
    spent = [(int(line[1]), int(line[2])) for line in timed if line[0] == "us"]
    return FormCost(
        forms,
        algorithm,
        free[0] - free[1],
        held,
        {
            name: us * 1000 // INSTRUCTION_NS // refused
            for name, (us, refused) in zip(JUDGED[forms], spent, strict=True)
        },
    )
