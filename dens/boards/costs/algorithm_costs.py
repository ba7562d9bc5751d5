"""What each of the filter's algorithms costs on the emulated micro:bit, by number and similarity.

The same subscriptions, to three of four attributes, are entered into the filter of each algorithm, every one
with a record of its own (the paper's algorithms) or equals as one record (watchdog/sharing.py), and the same
readings are judged under a locked heap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dens.boards.costs.board_programs import FREE, SETUP, START
from dens.boards.emulator.microbit import INSTRUCTION_NS, run_on_microbit
from dens.boards.filter_parts import filter_parts
from dens.boards.optimiser.chunking import laid_out

COUNTS = (10, 50, 200)
SIMILARITIES = (0.0, 0.5, 0.96)
"""Shares of subscriptions that equal another one; the paper states 60 % to 96 %."""

READINGS = 6

_PROGRAM = """
from gc import collect, mem_free
from micropython import heap_lock, heap_unlock
from utime import ticks_us
from program import pool, scan
from watchdog.pool import FOLLOWERS
from watchdog.sharing import enter


def draw(vector, body):
    x = 4711 + body * 977
    for i in range(6, 15, 3):
        x = (x * 1021 + 7919) % 1048573
        vector[i] = x % 200
        x = (x * 1021 + 7919) % 1048573
        vector[i + 1] = vector[i] + 10 + x % 46
        vector[i + 2] = 20 + (x >> 8) % 61
    vector[5] = (x >> 4) % 11 << 4
    vector[15] = 1
    vector[16] = 15 ^ 1 << body % 4


def load(vector, count, different):
    x = 99
    for number in range(count):
        body = number
        if number >= different:
            x = (x * 1021 + 7919) % 1048573
            body = x % different
        draw(vector, body)
        try:
            if not enter(pool, number, number & 255, 0, 1000, vector, 5, 17):
                return number
        except MemoryError:
            return number
    return count


def judge(row, mask):
    x = 4711
    spent = released = 0
    for reading in range(READINGS):
        for i in range(4):
            x = (x * 1021 + 7919) % 1048573
            row[i] = x >> 12
        heap_lock()
        begin = ticks_us()
        scan.begin(0, 7, 9, row, mask)
        while scan.advance():
            released += 1
        spent += ticks_us() - begin
        heap_unlock()
    print("judged", spent, released)


def run():
    row = bytearray(8)
    mask = bytearray(b"\\x0f")
    vector = bytearray(17)
    for count, different in LOADS:
        while pool.count:
            pool.remove((len(pool.blocks) - 1 << 16) + pool.header())
        collect()
        free = mem_free()
        spare = bytearray(400)
        begin = ticks_us()
        held = load(vector, count, different)
        spent = ticks_us() - begin
        spare = None
        scan.prepare()
        collect()
        active = 0
        for block in pool.blocks:
            if block[2] != FOLLOWERS:
                active += block[pool.header() - 1] if pool.covering else block[1]
        print("load", count, different, held, active, free - mem_free(), spent)
        judge(row, mask)
"""


@dataclass(frozen=True, slots=True)
class Load:
    """So many subscriptions, and what they cost. `held` are those for which there was room; instructions of
    an entry and of a reading are means, `instructions_per_subscription` of a reading by what is held.
    """

    subscriptions: int
    similarity: float
    held: int
    judged: int
    """The records that a reading of their feature looks at."""
    heap_bytes: int
    instructions_per_entry: int
    instructions_per_reading: int
    instructions_per_subscription: int
    released: int


@dataclass(frozen=True, slots=True)
class AlgorithmCost:
    """What an algorithm costs: the heap of its program, the bytes of a record, and what loads cost."""

    algorithm: str
    equals: str
    """`one` record for all of them, or each its `own`."""
    heap_bytes: int
    record_bytes: int
    loads: tuple[Load, ...]


def measured_costs(
    algorithms: Sequence[str] = ("fnif", "fnifs", "fnifc"),
    counts: Sequence[int] = COUNTS,
    similarities: Sequence[float] = SIMILARITIES,
    shared: Sequence[bool] = (False, True),
) -> list[AlgorithmCost]:
    """Measure them, with equals in records of their own and as one."""
    return [
        _measured(algorithm, is_sharing, [(count, alike) for count in counts for alike in similarities])
        for algorithm in algorithms
        for is_sharing in shared
    ]


def _measured(algorithm: str, is_sharing: bool, loads: Sequence[tuple[int, float]]) -> AlgorithmCost:
    made = filter_parts(algorithm, is_sharing=is_sharing)
    record = 24 if algorithm == "fnif" else 22
    different = [max(1, round(count * (1 - alike))) for count, alike in loads]
    pairs = ", ".join(f"({count}, {distinct})" for (count, _), distinct in zip(loads, different, strict=True))
    files = laid_out(
        {"core": made.core, "scan": made.scan},
        {"program": made.setup(SETUP), "user": _PROGRAM.replace("LOADS", f"({pairs},)")},
        {**made.assumed, "BLOCK_BYTES": 6 + record * 20, "READINGS": READINGS},
        START,
        FREE,
    )
    said = [line.split() for line in run_on_microbit(files, timeout_s=400).splitlines()]
    free = [int(line[1]) for line in said if line[0] == "free"]
    return AlgorithmCost(
        algorithm,
        "one" if is_sharing else "own",
        free[0] - free[1],
        record,
        tuple(_loads(said, [alike for _, alike in loads])),
    )


def _loads(said: Sequence[Sequence[str]], similarities: Sequence[float]) -> Iterator[Load]:
    loaded = [[int(word) for word in line[1:]] for line in said if line[0] == "load"]
    judged = [[int(word) for word in line[1:]] for line in said if line[0] == "judged"]
    for (count, _, held, active, heap, load_us), (judge_us, released), alike in zip(
        loaded, judged, similarities, strict=True
    ):
        reading = judge_us * 1000 // INSTRUCTION_NS // READINGS
        entry = load_us * 1000 // INSTRUCTION_NS // max(held, 1)
        yield Load(count, alike, held, active, heap, entry, reading, reading // max(held, 1), released)
