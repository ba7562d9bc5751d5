"""What the filter costs on a board, measured then and there on the emulated micro:bit.

The programs below run on the board with the whole filter as it is deployed: one fills the pool until it says
no, the other times readings that no subscription is satisfied by, under a locked heap.
"""

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import watchdog
from studio.board.bundle import bundle
from studio.board.microbit import INSTRUCTION_NS, BoardMissing, run_on_microbit

PARTS: Mapping[str, tuple[str, ...]] = {
    "store": ("membership", "pool"),
    "grade": ("aggregate", "grader"),
    "scan": ("scan",),
}
"""The deployed modules of the whole filter, in the order in which a board imports them.

A module costs heap too, and a large one must be compiled while the heap is still empty: these three left
room for the most subscriptions of the divisions that were tried.
"""

AGGREGATORS = ("min", "max", "product", "arithmetic_mean", "geometric_mean", "harmonic_mean")

_MAIN = """
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

_FILLING = """
from watchdog.pool import EXPIRY, Pool
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
    print("held", held, pool.blocks[0][0] << 1)
    if pool.search(EXPIRY, 4, 0, 1) >= 0:
        pool.remove(pool.judge(1, 2, 3))
        scan.begin(0, 1, 2, vector, vector)
        scan.advance()
"""

_TIMING = """
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
    pool = Pool(1, 5 + 22 * 20, 1)
    scan = Scan(pool, False, 95, None)
    row = bytearray(8)
    mask = bytearray(b"\\x07")
    for kind in range(6):
        cost(pool, scan, row, mask, kind)
"""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the whole filter with the plain aggregators costs on one board.

    `instructions` are means for one three-attribute subscription that is refused, the visit of its block
    included. `bytes_per_reading` is 0 because the measurement runs under a locked heap and fails otherwise.
    """

    flash_bytes: int
    mpy_bytes: int | None
    heap_import_bytes: int
    bytes_per_subscription: int
    resident_subscriptions: int
    bytes_per_reading: int
    instructions: dict[str, int]


def filter_files(program: str, others: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the files of a board that imports the whole filter and then calls `run` of this program.

    `others` are further modules by name, imported before it.
    """
    others = others or {}
    imports = "".join(f"import {name}\ngc.collect()\n" for name in [*PARTS, *others])
    programs = {**others, "program": program, "main": _MAIN % imports}
    modules = bundle(PARTS, programs, frozenset({"run"}), feature_bytes=1)
    return {name + ".py": source for name, source in modules.items()}


def measure_microbit(mpy_cross: Path | None = None) -> Budget:
    """Measure the filter on the emulated micro:bit; `mpy_bytes` needs a cross-compiler, else it is None."""
    files = filter_files(_FILLING)
    filling = [line.split() for line in run_on_microbit(files).splitlines()]
    free = [int(line[1]) for line in filling if line[:1] == ["free"]]
    held = next(line for line in filling if line[:1] == ["held"])
    timing = [line.split() for line in run_on_microbit(filter_files(_TIMING)).splitlines()]
    sources = {name: files[name + ".py"] for name in PARTS}
    return Budget(
        flash_bytes=sum(len(source) for source in sources.values()),
        mpy_bytes=None if mpy_cross is None else sum(mpy_sizes(sources, mpy_cross).values()),
        heap_import_bytes=free[0] - free[1],
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

    Only the micro:bit can be run here. Of the others the sizes are known, and what follows from the layout;
    None stands for what nobody has measured.
    """
    package = {
        path.stem: path.read_text(encoding="utf-8") for path in Path(watchdog.__file__).parent.glob("*.py")
    }
    microbit = measure_microbit(mpy_cross)
    larger: dict[str, object] = {
        "flash_bytes": sum(len(source.encode()) for source in package.values()),
        "mpy_bytes": None if mpy_cross is None else sum(mpy_sizes(package, mpy_cross).values()),
        "heap_import_bytes": None,
        "bytes_per_subscription": microbit.bytes_per_subscription,
        "resident_subscriptions": None,
        "bytes_per_reading": microbit.bytes_per_reading,
        "instructions": dict.fromkeys(AGGREGATORS),
    }
    return {"microbit": asdict(microbit), "pico": larger, "esp32": dict(larger)}
