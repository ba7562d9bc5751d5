"""The kernels of Pico and ESP32 beside the plain text, which says what is right: on x64, and on ARM with the
bytes that go on a Pico.
"""

from functools import cache

import pytest

from tests.dens.boards.runtimes import NATIVE, built_modules, run_on
from tests.dens.boards.test_runtimes import FILES, shared_module
from tests.dens.boards.unix import run_on_unix
from tests.sizes import full_in_soak
from watchdog.grader import first_satisfied

pytestmark = pytest.mark.board

PARTS = 10
GRADERS = {runtime: "native_grader" for runtime in NATIVE} | {"x64-plain": "grader"}
JUDGE = """
import judged_pairs
from watchdog.%s import first_satisfied
for i in range(%d):
    print(judged_pairs.checksum(i * %d, %d, first_satisfied))
"""
COMPARE = """
from both_scans import compared
from watchdog.kernels import KERNELS, SCANS
print(KERNELS, compared(SCANS, %d))
"""


@cache
def judged_here(first: int, batches: int) -> int:
    """What the plain text says of these batches on CPython."""
    shared_module("degrees")
    return int(shared_module("judged_pairs").checksum(first, batches, first_satisfied))


def assert_judged_alike(runtime: str, batches: int) -> None:
    """Compare this many batches for each part with the results of CPython."""
    program = JUDGE % (GRADERS[runtime], PARTS, batches, batches)
    there = [int(line) for line in run_on(runtime, program, FILES).split()]
    assert there == [judged_here(part * batches, batches) for part in range(PARTS)]


@pytest.mark.parametrize("runtime", GRADERS)
def test_pairs_are_judged_alike(runtime: str) -> None:
    assert_judged_alike(runtime, 4)


@pytest.mark.slow
@pytest.mark.parametrize("runtime", GRADERS)
def test_many_pairs_are_judged_alike(runtime: str) -> None:
    batches = full_in_soak(10, 100)
    assert PARTS * batches * shared_module("judged_pairs").PAIRS == full_in_soak(100_000, 1_000_000)
    assert_judged_alike(runtime, batches)


@pytest.mark.parametrize("runtime", NATIVE)
def test_both_scans_release_the_same(runtime: str) -> None:
    kernels, compared = run_on(runtime, COMPARE % (24 if runtime == "pico" else 90), FILES).split()
    assert kernels == "native"
    assert int(compared) > 1000


def test_machine_code_of_another_chip_is_left_aside() -> None:
    """What is built for a Pico, on x64: its bytecode runs there, its machine code does not."""
    files = built_modules() | FILES
    assert run_on_unix("x64", COMPARE % 2, files).split()[0] == "plain"
    program = "try:\n import watchdog.native_grader\nexcept ValueError as error:\n print(error)\n"
    assert run_on_unix("x64", program, files).strip() == "incompatible .mpy arch"
