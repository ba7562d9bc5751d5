"""The watchdog on every MicroPython: the same checks, the same degrees, nothing allocated."""

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.dens.boards.runtimes import NATIVE, RUNTIMES, run_on
from tests.paths import ROOT
from tests.sizes import full_in_soak

SHARED = Path(__file__).parent / "shared"
CHECKS = sorted(path.stem for path in SHARED.glob("check_*.py"))
FILES = {path: "/lib/" + path.name for path in SHARED.glob("*.py")}

RUNNER = """
import sys
for name in %r:
    module = __import__(name)
    for entry in dir(module):
        if entry.startswith("test_"):
            try:
                getattr(module, entry)()
                print("passed", name + "." + entry)
            except Exception as error:
                print("FAILED", name + "." + entry)
                sys.print_exception(error)
"""


def shared_module(name: str) -> ModuleType:
    """Load one of the shared modules on CPython, where they find each other by plain names as on a board."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, SHARED / (name + ".py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


shared_module("degrees")
shared_module("strata_algorithms")
for _name in ("drawn_functions", "drawn_patterns", "strata_forms"):
    shared_module(_name)
HOST_CHECKS: dict[str, Callable[[], None]] = {
    name + "." + entry: getattr(shared_module(name), entry)
    for name in CHECKS
    for entry in dir(shared_module(name))
    if entry.startswith("test_") and callable(getattr(shared_module(name), entry))
}


@pytest.mark.parametrize("name", sorted(HOST_CHECKS))
def test_checks_on_cpython(name: str) -> None:
    assert HOST_CHECKS[name]() is None


@pytest.mark.board
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_same_checks_on_micropython(runtime: str) -> None:
    output = run_on(runtime, RUNNER % (tuple(CHECKS),), FILES)
    assert "FAILED" not in output, output
    passed = [line.split()[1] for line in output.splitlines() if line.startswith("passed")]
    assert sorted(passed) == sorted(HOST_CHECKS)


@pytest.mark.board
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_that_machine_code_runs_where_it_can(runtime: str) -> None:
    program = "from watchdog.kernels import KERNELS, SCANS\nprint(KERNELS, [s.__name__ for s in SCANS])\n"
    native = runtime in NATIVE
    said = "native ['NativeScan', 'NativeFlatScan']" if native else "plain ['Scan', 'FlatScan']"
    assert run_on(runtime, program, {}).strip() == said


@cache
def host_checksum(first: int, size: int) -> int:
    """What CPython computes for these pairs."""
    return int(shared_module("degrees").checksum(first, size))


def assert_checksums_agree(runtime: str, blocks: int, size: int) -> None:
    """Compare checksums over `blocks` runs of `size` (vector, reading) pairs each."""
    program = "import degrees\nfor i in range(%d):\n    print(degrees.checksum(i * %d, %d))\n" % (
        blocks,
        size,
        size,
    )
    there = [int(line) for line in run_on(runtime, program, FILES).split()]
    here = [host_checksum(i * size, size) for i in range(blocks)]
    assert there == here


@pytest.mark.board
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_degrees_are_bit_identical(runtime: str) -> None:
    assert_checksums_agree(runtime, 2, 8800)


@pytest.mark.board
@pytest.mark.slow
@pytest.mark.parametrize("runtime", sorted(set(RUNTIMES) - {"pico", "x64-native"}))
def test_many_degrees_are_bit_identical(runtime: str) -> None:
    """Compare 100,000 degrees, in soak a million."""
    assert_checksums_agree(runtime, full_in_soak(5, 50), 20000)


@pytest.mark.board
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_heap_lock_would_notice_an_allocation(runtime: str) -> None:
    program = (
        "import micropython\n"
        "def allocate():\n"
        "    micropython.heap_lock()\n"
        "    try:\n"
        "        return bytearray(100)\n"
        "    except MemoryError:\n"
        "        return None\n"
        "    finally:\n"
        "        micropython.heap_unlock()\n"
        "print(allocate())\n"
    )
    assert run_on(runtime, program, {}).strip() == "None"


def test_the_parts_that_runtimes_check_are_those_of_the_language() -> None:
    from knowledge_manager.mission_table import load_mission_table
    from plugins.boxes.language import BOXES
    from plugins.boxes.vectors import decode_body

    checked, table = shared_module("check_boxes"), load_mission_table(["medical", "weather"])
    body = bytes.fromhex(checked.WHOLE)[3:]
    assert tuple(part.body.hex() for part in BOXES.parts(table)(body)) == checked.PARTS
    assert decode_body(body, 1, table).boxes == checked.BOXES


def test_the_parts_of_composites_that_runtimes_check_are_those_of_the_language() -> None:
    from knowledge_manager.mission_table import load_mission_table
    from plugins.registry import language_named

    checked = shared_module("check_composites")
    table = load_mission_table([str(ROOT / "tests/plugins/composite/sessions.toml")])
    body = bytes.fromhex(checked.WHOLE)[3:]
    assert tuple(part.body.hex() for part in language_named("composite").parts(table)(body)) == checked.PARTS
