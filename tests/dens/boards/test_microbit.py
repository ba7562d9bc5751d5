"""The watchdog's arithmetic on the micro:bit's firmware (MicroPython 1.9.2, Cortex-M0, 10 KB heap) in QEMU.

Each test starts the board with the modules it needs, flat and minified as they would be deployed. What the
board computes is compared with CPython bit by bit; heap and instruction figures are printed (`pytest -rP`).
"""

import pytest

from dens.boards.emulator.microbit import INSTRUCTION_NS, run_on_microbit
from dens.boards.optimiser.bundle import bundle
from tests.dens.boards.test_runtimes import SHARED, shared_module

pytestmark = pytest.mark.board

DEPLOYED_BYTES = 2560
"""No module may be larger as deployed."""

MAIN = """
import gc
gc.collect()
before = gc.mem_free()
%(imports)s
gc.collect()
print("heap", before - gc.mem_free())
import %(sample)s
for number in %(sample)s.checksums():
    print("sum", number)
print("--end--")
"""

STRATA: dict[str, dict[str, tuple[str, ...]]] = {
    "strata_membership": {"membership": ("octave", "membership")},
    "strata_aggregate": {"aggregate": ("aggregate",)},
    "strata_pattern": {"pattern": ("tokens", "pattern")},
    "strata_breakdown": {"breakdown": ("breakdown",)},
    "strata_vector": {
        "tokens": ("tokens",),
        "blocks": ("aggregators", "blocks"),
        "vector": ("lifetime", "vector"),
    },
}
"""Sample → the flat modules that it needs, in the order in which the board imports them."""

MEMBERSHIP_INSTRUCTIONS = 3243
AGGREGATE_INSTRUCTIONS = (4453, 5219, 6510, 5612, 34110, 12454)
"""Measured for three degrees, aggregators 0 to 5; the tests allow 15 % more."""


def deployed(parts: dict[str, tuple[str, ...]], programs: dict[str, str]) -> dict[str, str]:
    """Return the files for the board, and hold every module of the watchdog to its size."""
    modules = bundle(parts, programs, keep=frozenset({"checksums"}))
    for name in parts:
        assert len(modules[name]) <= DEPLOYED_BYTES, name
    return {name + ".py": source for name, source in modules.items()}


@pytest.mark.parametrize("sample", sorted(STRATA))
def test_samples_are_bit_identical(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    parts = STRATA[sample]
    source = (SHARED / (sample + ".py")).read_text(encoding="utf-8")
    imports = "\n".join("import " + name + "\ngc.collect()" for name in parts)
    files = deployed(parts, {sample: source, "main": MAIN % {"imports": imports, "sample": sample}})
    lines = [line.split() for line in run_on_microbit(files).splitlines()]
    there = [int(line[1]) for line in lines if line[:1] == ["sum"]]
    assert there == shared_module(sample).checksums()
    heap = next(int(line[1]) for line in lines if line[:1] == ["heap"])
    with capsys.disabled():
        size = sum(len(files[name + ".py"]) for name in parts)
        print("\nmicro:bit, %s: %d bytes of source, %d bytes of heap" % ("+".join(parts), size, heap))
    assert 0 < heap < 6000


TIMING = """
from watchdog.membership import degree
from watchdog.aggregate import aggregate
from utime import ticks_us
degrees = bytearray(b"\\x60\\xa0\\xe0")
def cost(kind):
    begin = ticks_us()
    i = 0
    while i < 64:
        aggregate(kind, degrees, 3)
        i += 1
    return ticks_us() - begin
def loop():
    begin = ticks_us()
    i = 0
    while i < 64:
        i += 1
    return ticks_us() - begin
def member():
    begin = ticks_us()
    i = 0
    while i < 64:
        degree(i, 100, 150, 30)
        i += 1
    return ticks_us() - begin
empty = loop()
print("us membership", member() - empty)
for kind in range(6):
    print("us", kind, cost(kind) - empty)
print("--end--")
"""


def test_instructions_of_memberships_and_aggregators(capsys: pytest.CaptureFixture[str]) -> None:
    parts = {"membership": ("octave", "membership"), "aggregate": ("aggregate",)}
    lines = [line.split() for line in run_on_microbit(deployed(parts, {"main": TIMING})).splitlines()]
    figures = {line[1]: int(line[2]) * 1000 // INSTRUCTION_NS // 64 for line in lines if line[:1] == ["us"]}
    with capsys.disabled():
        print("\ninstructions on the micro:bit, three degrees: %s" % figures)
    assert 0 < figures["membership"] <= MEMBERSHIP_INSTRUCTIONS * 1.15
    for kind in range(6):
        assert 0 < figures[str(kind)] <= AGGREGATE_INSTRUCTIONS[kind] * 1.15
