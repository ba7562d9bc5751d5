"""Cartesian-product forms on the micro:bit: they load beside FNIF and FNIFS, and release what they release on
CPython, within its heap and its stack.
"""

import pytest

from dens.boards.costs.board_programs import FREE, SETUP, START
from dens.boards.costs.form_costs import FormCost, form_cost
from dens.boards.emulator.microbit import run_on_microbit
from dens.boards.filter_parts import FORMS, filter_parts
from dens.boards.optimiser.chunking import laid_out
from tests.dens.boards.test_runtimes import SHARED, shared_module

CHECKING = """
from program import pool, scan
from strata_forms import checksums
from drawn_%s import FORMS
def run():
    for number in checksums(pool, scan, FORMS):
        print("sum", number)
"""


@pytest.mark.board
@pytest.mark.parametrize("is_quick", [True, False])
@pytest.mark.parametrize("algorithm", ["fnif", "fnifs"])
@pytest.mark.parametrize("forms", sorted(FORMS))
def test_each_form_releases_what_it_releases_on_cpython(forms: str, algorithm: str, is_quick: bool) -> None:
    made = filter_parts(algorithm, is_quick=is_quick, forms=forms)
    names = ("strata_forms", "drawn_" + forms)
    files = laid_out(
        {"core": made.core, "scan": made.scan},
        {
            "program": made.setup(SETUP),
            **{name: (SHARED / (name + ".py")).read_text(encoding="utf-8") for name in names},
            "user": CHECKING % forms,
        },
        {**made.assumed, "BLOCK_BYTES": 200},
        START,
        FREE,
        inlined=made.inlined,
    )
    said = [line.split() for line in run_on_microbit(files).splitlines()]
    expected = getattr(shared_module("check_forms"), forms.upper() + "_RELEASE")
    assert [int(words[1]) for words in said if words[0] == "sum"] == expected


MEASURED = (
    FormCost("patterns", "fnifs", 4336, 188, {"and, exact": 53911, "and, broken down": 57910}),
    FormCost(
        "functions",
        "fnifs",
        5120,
        154,
        {"geometric mean": 54027, "table of order 0": 133478, "table of order 1": 160198},
    ),
)
"""Heap may be 80 bytes more, instructions 15 %; as many subscriptions fit, or more."""


@pytest.mark.board
@pytest.mark.parametrize("expected", MEASURED, ids=lambda cost: str(cost.forms))
def test_a_form_costs_what_the_documentation_says(expected: FormCost) -> None:
    found = form_cost(expected.forms, expected.algorithm)
    assert 0 < found.heap_bytes <= expected.heap_bytes + 80
    assert found.resident_subscriptions >= expected.resident_subscriptions
    assert found.instructions.keys() == expected.instructions.keys()
    for name, figure in expected.instructions.items():
        assert 0 < found.instructions[name] <= figure * 1.15
