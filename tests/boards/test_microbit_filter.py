"""The whole filter on the micro:bit: it does what it does on CPython, allocates nothing, and keeps its
figures.
"""

import pytest

from studio.board.bundle import bundle
from studio.board.microbit import INSTRUCTION_NS, run_on_microbit
from tests.boards.test_wasm import SHARED, shared_module

pytestmark = pytest.mark.board

PARTS = {
    "board_slopes": ("membership",),
    "board_pool": ("pool",),
    "board_means": ("aggregate",),
    "board_grader": ("grader",),
    "board_scan": ("scan",),
}
"""The deployed modules, in the order in which a board imports them."""

DEPLOYED_BYTES = 2560
HEAP_BYTES = 4560
RESIDENT = 104
INSTRUCTIONS = (6800, 10200, 6800, 7000, 7000, 7000)
"""What was measured, rounded up: heap after import, three-attribute subscriptions beside it, and instructions
for one subscription that is refused, by aggregator. Instructions may be 15 % more.
"""

MAIN = """
import gc
gc.collect()
gc.collect()
print("free", gc.mem_free())
%s
print("free", gc.mem_free())
import program
program.run()
print("--end--")
"""


def output_of(program: str, others: tuple[str, ...] = ()) -> list[list[str]]:
    """Return the words of every line that the program's `run` prints on a board with the whole filter.

    `others` are shared modules that it imports.
    """
    imports = "".join("import %s\ngc.collect()\n" % name for name in PARTS)
    keep = frozenset({"run", "checksums"})
    imports += "".join("import %s\ngc.collect()\n" % name for name in others)
    programs = {name: (SHARED / (name + ".py")).read_text(encoding="utf-8") for name in others}
    programs |= {"program": program, "main": MAIN % imports}
    modules = bundle(PARTS, programs, keep, feature_bytes=1)
    assert {name: len(modules[name]) for name in PARTS if len(modules[name]) > DEPLOYED_BYTES} == {}
    files = {name + ".py": source for name, source in modules.items()}
    return [line.split() for line in run_on_microbit(files).splitlines()]


def test_the_filter_does_what_it_does_on_cpython() -> None:
    program = """
from strata_filter import checksums
def run():
    for number in checksums():
        print("sum", number)
"""
    lines = output_of(program, ("drawn_vectors", "strata_filter"))
    shared_module("drawn_vectors")
    assert [int(line[1]) for line in lines if line[0] == "sum"] == shared_module("strata_filter").checksums()


FIGURES = """
from utime import ticks_us
from micropython import heap_lock, heap_unlock
from watchdog.pool import Pool
from watchdog.scan import Scan


def cost(pool, scan, row, mask, kind):
    vector = bytearray(17)
    vector[15] = 1
    vector[16] = 7
    x = 4711
    for number in range(20):
        for i in range(6, 15):
            x = (x * 1021 + 7919) % 1048573
            vector[i] = x >> 12
        for i in range(6, 15, 3):
            if vector[i] > vector[i + 1]:
                vector[i], vector[i + 1] = vector[i + 1], vector[i]
            vector[i + 1] = min(255, vector[i] + (1 if kind == 1 else 60))
            vector[i + 2] = 120 if kind == 1 else 36 + (vector[i + 2] & 63)
        vector[5] = 13 << 4 | kind
        pool.put(1, number, 0, 1000, vector, 5, 17)
    scan.prepare()
    spent = 0
    refused = 0
    for reading in range(12):
        for i in range(3):
            x = (x * 1021 + 7919) % 1048573
            row[i] = x >> 12
        heap_lock()
        begin = ticks_us()
        scan.begin(0, 7, 9, row, mask)
        degree = scan.advance()
        end = ticks_us()
        heap_unlock()
        if degree == 0:
            spent += end - begin
            refused += 20
    print("us", kind, spent, refused)


def run():
    pool = Pool(1, 5 + 22 * 20, 99)
    scan = Scan(pool, False, 95, None)
    row = bytearray(8)
    mask = bytearray(b"\\x07")
    for kind in range(6):
        cost(pool, scan, row, mask, kind)
"""


FILLING = """
from watchdog.pool import KEY, Pool
from watchdog.scan import Scan


def run():
    pool = Pool(1, 5 + 22 * 8, 255)
    scan = Scan(pool, False, 95, None)
    vector = bytearray(17)
    vector[15] = 1
    vector[16] = 7
    held = 0
    while pool.put(held, held & 255, 0, 1000, vector, 5, 17):
        held += 1
    while pool.search(KEY, 3, 0, 16777215) < 0:
        scan.advance()
    print("held", held)
"""


def test_heap_after_import_and_resident_subscriptions(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_of(FILLING)
    free = [int(line[1]) for line in lines if line[0] == "free"]
    held = next(int(line[1]) for line in lines if line[0] == "held")
    with capsys.disabled():
        print("\nmicro:bit: %d bytes of heap for the whole filter, %d resident" % (free[0] - free[1], held))
    assert 0 < free[0] - free[1] <= HEAP_BYTES
    assert held >= RESIDENT


def test_instructions_and_nothing_allocated(capsys: pytest.CaptureFixture[str]) -> None:
    measured = {
        int(line[1]): int(line[2]) * 1000 // INSTRUCTION_NS // int(line[3])
        for line in output_of(FIGURES)
        if line[0] == "us"
    }
    with capsys.disabled():
        print("\ninstructions on the micro:bit for a subscription that is refused: %s" % measured)
    assert sorted(measured) == [0, 1, 2, 3, 4, 5]
    for kind, instructions in measured.items():
        assert instructions <= INSTRUCTIONS[kind] * 1.15
