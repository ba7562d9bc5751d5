"""Costs of the filter on a board, measured on the emulated micro:bit.

The programs below run on the board with the whole filter as deployed: one fills the pool, the other times
readings that satisfy no subscription, with the heap locked.
"""

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from dens.boards.costs.board_programs import FILLING, FREE, SETUP, START
from dens.boards.emulator.microbit import INSTRUCTION_NS, BoardMissing, run_on_microbit
from dens.boards.filter_parts import DEFAULT, FORMS, filter_parts
from dens.boards.optimiser.bundle import SMALL_BOARD, bundle
from dens.boards.optimiser.chunking import laid_out
from dens.boards.package_files import compiled_modules, package_sources
from dens.boards.registry import FOLDER_BOARDS
from watchdog.aggregators import AGGREGATOR_NAMES, MOST_BASIC

CORE: Mapping[str, tuple[str, ...]] = {"core": filter_parts(DEFAULT).core}
"""Memberships, aggregators 0 to 5, the pool with its revisions and expiry."""

PARTS: Mapping[str, tuple[str, ...]] = {**CORE, "scan": ("scan",)}
"""The whole filter: the core, and which notifications a reading is worth."""

AGGREGATORS = tuple(AGGREGATOR_NAMES[kind] for kind in range(MOST_BASIC + 1))
"""The names of those that every board works out."""

_USE_OF_CORE = """
from watchdog.grader import first_satisfied
from watchdog.pool import EXPIRY, Pool

pool = Pool(1, 99, 99)
"""

_CORE_USED = """
def run():
    pool.put(1, 2, 3, 4, b"", 5, 6)
    pool.remove(pool.search(EXPIRY, 4, 0, pool.judge(1, 2, 3)))
    first_satisfied(pool, 13, 1, b"", 0, b"", None)
"""

_TIMING = """
from utime import ticks_us
from micropython import heap_lock, heap_unlock
from program import pool, scan


def cost(row, mask, kind):
    while pool.count:
        pool.remove(65536 * len(pool.blocks) - 65531)
    vector = bytearray(17)
    vector[15] = 1
    vector[16] = 7
    x = 4711
    for number in range(20):
        for i in range(6, 15):
            x = (x * 1021 + 7919) % 1048573
            vector[i] = x >> 12
        for i in range(6, 15, 3):
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
    row = bytearray(8)
    mask = bytearray(b"\\x07")
    for kind in range(6):
        cost(row, mask, kind)
"""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the whole filter with the plain aggregators costs on one board.

    `heap_import_bytes` is the core (CORE), `heap_filter_bytes` everything (PARTS) with the objects that it
    needs and the program that measures. `instructions` are means for one three-attribute subscription that
    is refused, the visit of its block included. `bytes_per_reading` is 0 because the measurement runs under
    a locked heap and fails otherwise.
    """

    flash_bytes: int
    mpy_bytes: int | None
    heap_import_bytes: int
    heap_filter_bytes: int
    bytes_per_subscription: int
    resident_subscriptions: int
    bytes_per_reading: int
    instructions: dict[str, int]


def filter_files(
    program: str, others: Mapping[str, str] | None = None, block_bytes: int = 5 + 22 * 20
) -> dict[str, str]:
    """Return the files of a board that loads the whole filter and then calls `run` of this program.

    Programs find the objects `pool` and `scan` in the module `program`; `others` are further sources.
    """
    programs = {"program": SETUP, **(others or {}), "user": program}
    return laid_out(PARTS, programs, {"BLOCK_BYTES": block_bytes}, START, FREE)


def heap_of_core() -> int:
    """Measure what the core alone leaves of the heap when it is loaded."""
    programs = {"program": _USE_OF_CORE, "user": _CORE_USED}
    files = laid_out(
        CORE,
        programs,
        None,
        "del run\ngc.collect()\nprint('free',gc.mem_free())\nprint('--end--')\n",
        FREE,
    )
    free = [int(line.split()[1]) for line in run_on_microbit(files).splitlines()]
    return free[0] - free[1]


STARTS = range(1, 7)
"""Seeds of the chip's random numbers, which decide a little how the heap breaks up: the least room counts."""


def filled(seed: int) -> list[list[str]]:
    """Fill a board to its last subscription; return the words it printed: free heap twice, what it held."""
    files = filter_files(FILLING, block_bytes=5 + 22 * 70)
    return [line.split() for line in run_on_microbit(files, seed=seed).splitlines()]


def measure_microbit(mpy_cross: Path | None = None) -> Budget:
    """Measure the filter on the emulated micro:bit; `mpy_bytes` needs a cross-compiler, else it is None."""
    fillings = [filled(seed) for seed in STARTS]
    free = [int(line[1]) for line in fillings[0] if line[:1] == ["free"]]
    held = min(
        (line for filling in fillings for line in filling if line[:1] == ["held"]),
        key=lambda line: int(line[1]),
    )
    timing = [line.split() for line in run_on_microbit(filter_files(_TIMING)).splitlines()]
    modules = bundle(
        PARTS, {"program": SETUP, "user": FILLING}, frozenset({"run"}), SMALL_BOARD, together=True
    )
    sources = {name: modules[name] for name in PARTS}
    return Budget(
        flash_bytes=sum(len(source) for source in sources.values()),
        mpy_bytes=None if mpy_cross is None else sum(mpy_sizes(sources, mpy_cross).values()),
        heap_import_bytes=heap_of_core(),
        heap_filter_bytes=free[0] - free[1],
        bytes_per_subscription=int(held[2]),
        resident_subscriptions=int(held[1]),
        bytes_per_reading=0,
        instructions={
            AGGREGATORS[int(line[1])]: int(line[2]) * 1000 // INSTRUCTION_NS // int(line[3])
            for line in timing
            if line[:1] == ["us"]
        },
    )


def mpy_sizes(sources: Mapping[str, str], mpy_cross: Path) -> dict[str, int]:
    """Return how many bytes each module has as compiled by this cross-compiler."""
    if not mpy_cross.is_file():
        raise BoardMissing(f"{mpy_cross} is not there: install mpy-cross")
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, source in sources.items():
            path = Path(folder) / (name + ".py")
            path.write_text(source, encoding="utf-8")
            target = path.with_suffix(".mpy")
            subprocess.run([str(mpy_cross), "-O3", "-o", str(target), str(path)], check=True)
            sizes[name] = target.stat().st_size
    return sizes


def budgets(mpy_cross: Path | None = None) -> dict[str, dict[str, object]]:
    """Return the figures of every board, as `dens board budget --json` prints them.

    Only the micro:bit is emulated. Of the others only sizes are known; None means not measured.
    """
    package = package_sources()
    microbit = measure_microbit(mpy_cross)
    larger: dict[str, object] = {
        "flash_bytes": sum(len(source.encode()) for source in package.values()),
        "heap_import_bytes": None,
        "heap_filter_bytes": None,
        "bytes_per_subscription": microbit.bytes_per_subscription,
        "resident_subscriptions": None,
        "bytes_per_reading": microbit.bytes_per_reading,
        "instructions": dict.fromkeys(AGGREGATORS),
    }
    from dens.boards.costs.algorithm_costs import (
        measured_costs,  # both measure with the programs of this module
    )
    from dens.boards.costs.form_costs import form_cost

    algorithms = [asdict(cost) for cost in measured_costs()]
    forms = [asdict(form_cost(form, algorithm)) for form in FORMS for algorithm in ("fnifs", "fnif")]
    found: dict[str, dict[str, object]] = {
        "microbit": {**asdict(microbit), "algorithms": algorithms, "forms": forms}
    }
    for board in FOLDER_BOARDS:
        modules = {} if mpy_cross is None else compiled_modules(board, package, mpy_cross)
        size = sum(map(len, modules.values())) or None
        found[board] = {**larger, "mpy_bytes": size, "algorithms": None, "forms": None}
    return found
