"""The whole filter on the micro:bit: it does what it does on CPython, allocates nothing, and keeps its
figures.
"""

from functools import cache

import pytest

from dens.boards.costs.algorithm_costs import measured_costs
from dens.boards.costs.board_programs import SETUP
from dens.boards.costs.budget import AGGREGATORS, PARTS, Budget, measure_microbit
from dens.boards.emulator.microbit import run_on_microbit
from dens.boards.filter_parts import filter_parts
from dens.boards.optimiser.chunking import laid_out
from tests.dens.boards.install import cross_compiler
from tests.dens.boards.test_runtimes import SHARED, shared_module

pytestmark = pytest.mark.board

DEPLOYED_BYTES = 2560
CORE_HEAP_BYTES = 2672
FILTER_HEAP_BYTES = 3872
RESIDENT = 198
MPY_BYTES = 4096
INSTRUCTIONS = {
    "min": 5370,
    "max": 8790,
    "product": 5450,
    "arithmetic_mean": 5460,
    "geometric_mean": 5460,
    "harmonic_mean": 5460,
}
"""What was measured; instructions may be 15 % more."""

CHECKING = """
from strata_filter import checksums
def run():
    for number in checksums():
        print("sum", number)
"""


def test_the_filter_does_what_it_does_on_cpython() -> None:
    sources = {
        name: (SHARED / (name + ".py")).read_text(encoding="utf-8")
        for name in ("strata_filter", "drawn_vectors")
    }
    files = laid_out(PARTS, {**sources, "user": CHECKING}, start="run()\nprint('--end--')\n")
    lines = [line.split() for line in run_on_microbit(files).splitlines()]
    shared_module("drawn_vectors")
    there = [int(line[1]) for line in lines if line[:1] == ["sum"]]
    assert len(set(there)) > 8
    assert there == shared_module("strata_filter").checksums()


ALGORITHMS_CHECKED = """
from program import pool, scan
from strata_algorithms import checksums
def run():
    for number in checksums(pool, scan):
        print("sum", number)
"""


@pytest.mark.parametrize("is_sharing", [False, True])
@pytest.mark.parametrize("algorithm", ["fnif", "fnifs", "fnifc"])
def test_every_algorithm_releases_what_all_release_on_cpython(algorithm: str, is_sharing: bool) -> None:
    made = filter_parts(algorithm, is_sharing=is_sharing)
    name = "strata_algorithms"
    files = laid_out(
        {"core": made.core, "scan": made.scan},
        {
            "program": made.setup(SETUP),
            name: (SHARED / (name + ".py")).read_text(encoding="utf-8"),
            "user": ALGORITHMS_CHECKED,
        },
        {**made.assumed, "BLOCK_BYTES": 71},
        "run()\nprint('--end--')\n",
    )
    there = [int(line.split()[1]) for line in run_on_microbit(files).splitlines() if line[:3] == "sum"]
    shared_module(name)
    assert there == shared_module("check_algorithms").EXPECTED


def test_fnifc_gains_over_fnif_with_equal_subscriptions() -> None:
    fnif, fnifc = measured_costs(("fnif", "fnifc"), (40,), (0.0, 0.96), (False,))
    ratios = [
        one.instructions_per_reading / other.instructions_per_reading
        for one, other in zip(fnifc.loads, fnif.loads, strict=True)
    ]
    assert [load.held for load in (*fnif.loads, *fnifc.loads)] == [40] * 4
    assert [load.released for load in fnif.loads] == [load.released for load in fnifc.loads]
    assert ratios[1] < 0.2 < 0.5 * ratios[0] + 0.2 < 0.7


@cache
def figures() -> Budget:
    """Measure once for all tests that read it."""
    return measure_microbit(cross_compiler("1.29"))


def test_heap_and_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures()
    with capsys.disabled():
        print("\nmicro:bit: %s" % found)
    assert found.bytes_per_subscription == 22
    assert found.bytes_per_reading == 0
    assert 0 < found.heap_import_bytes <= CORE_HEAP_BYTES
    assert 0 < found.heap_filter_bytes <= FILTER_HEAP_BYTES
    assert found.resident_subscriptions >= RESIDENT
    assert found.mpy_bytes is not None
    assert 0 < found.mpy_bytes <= MPY_BYTES


@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_instructions(aggregator: str) -> None:
    assert 0 < figures().instructions[aggregator] <= INSTRUCTIONS[aggregator] * 1.15
