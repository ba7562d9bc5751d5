"""Measures on the emulated micro:bit what a reading costs in time, for the emulator's board profiles.

A reading that meets no subscription of its event class; what a group of subscriptions to the same attributes
adds; and what each three-attribute subscription adds when it is refused by a distance, and when it is
satisfied and its notification is put together. The heap is locked meanwhile: a filter needs none of it, and
how long a board looks for free memory depends on how its heap happens to be broken up.
"""

from dens.boards.costs.budget import AGGREGATORS, filter_files
from dens.boards.emulator.microbit import INSTRUCTION_NS, run_on_microbit

_TIMING = """
from micropython import heap_lock, heap_unlock
from utime import ticks_us
from program import pool, scan


def spent(row, mask, event, value):
    for i in range(3):
        row[i] = value
    heap_lock()
    begin = ticks_us()
    for _ in range(8):
        scan.begin(event, 7, 9, row, mask)
        scan.advance()
    end = ticks_us()
    heap_unlock()
    return end - begin
"""

_FILTERING = """


def run():
    row = bytearray(8)
    mask = bytearray(b"\\x07")
    vector = bytearray(b"\\0\\0\\x64\\0\\0\\0\\x80\\xff\\x24\\x80\\xff\\x24\\x80\\xff\\x24\\1\\7")
    for kind in range(6):
        vector[5] = 208 | kind
        pool.put(1, 1, 0, 1000, vector, 5, 17)
        scan.prepare()
        nothing = spent(row, mask, 1, 0)
        one = spent(row, mask, 0, 0)
        satisfied = spent(row, mask, 0, 124)
        for i in range(4):
            pool.put(1, 2 + i, 0, 1000, vector, 5, 17)
        five = spent(row, mask, 0, 0)
        while pool.count:
            pool.remove(5)
        print("us", kind, nothing, one, five, satisfied)
"""

_MATCHING = """


def run():
    row = bytearray(8)
    mask = bytearray(b"\\x07")
    scan.prepare()
    nothing = spent(row, mask, 0, 0)
    vector = bytearray(b"\\0\\0\\x64\\0\\0\\x02\\x80\\xff\\x24\\1\\x08")
    pool.put(1, 1, 0, 1000, vector, 5, 11)
    scan.prepare()
    unfit = spent(row, mask, 0, 0)
    pool.remove(5)
    print("unfit", nothing, unfit)
    for size in (2, 3):
        vector = bytearray(b"\\0\\0\\x64\\0\\0\\xd2") + b"\\x80\\xff\\x24" * size
        vector += bytes([1, (1 << size) - 1])
        pool.put(1, 1, 0, 1000, vector, 5, len(vector))
        scan.prepare()
        one = spent(row, mask, 0, 116)
        pool.put(1, 2, 0, 1000, vector, 5, len(vector))
        scan.prepare()
        two = spent(row, mask, 0, 116)
        while pool.count:
            pool.remove(5)
        print("judged", size, one, two)
"""


def measured_profile() -> dict[str, object]:
    """Return microseconds for the micro:bit, as emulation/devices/board_profile.py reads them."""
    lines = [line.split() for line in run_on_microbit(filter_files(_TIMING + _FILTERING)).splitlines()]
    rows = {
        AGGREGATORS[int(line[1])]: [int(word) // 8 for word in line[2:]]
        for line in lines
        if line[:1] == ["us"]
    }
    idle = rows["min"][0]
    refused = {name: (row[2] - row[1]) // 4 for name, row in rows.items()}
    group = rows["min"][1] - idle - refused["min"]
    return {
        "instruction_ns": INSTRUCTION_NS,
        "reading_us": idle,
        "group_us": group,
        "refused_us": refused,
        "satisfied_us": {name: row[3] - idle - group for name, row in rows.items()},
    }


def measured_matching() -> dict[str, int]:
    """Return the microseconds of a feature test, a membership and an aggregation.

    A group whose feature does not fit; and subscriptions whose two and three degrees are each enough and
    their product is not, so that they are worked out and nothing is sent.
    """
    printed = run_on_microbit(filter_files(_TIMING + _MATCHING))
    figures = {
        tuple(words[:-2]): int(words[-1]) - int(words[-2])
        for words in map(str.split, printed.splitlines())
        if words[:1] in (["unfit"], ["judged"])
    }
    two, three = figures["judged", "2"] // 8, figures["judged", "3"] // 8
    membership = three - two
    return {
        "feature_test_us": figures["unfit",] // 8,
        "membership_us": membership,
        "aggregation_us": two - 2 * membership,
    }
