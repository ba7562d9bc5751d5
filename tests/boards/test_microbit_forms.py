"""Cartesian-product forms on the micro:bit: they load beside FNIF and FNIFS, and release what they release on
CPython, within its heap and its stack.
"""

import pytest

from boards.budget import FREE, START, setup_source
from boards.filter_parts import FORMS, filter_parts
from boards.microbit import run_on_microbit
from boards.pieces import laid_out
from tests.boards.test_wasm import SHARED, shared_module

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
            "program": made.setup(setup_source()),
            **{name: (SHARED / (name + ".py")).read_text(encoding="utf-8") for name in names},
            "user": CHECKING % forms,
        },
        {**made.assumed, "BLOCK_BYTES": 200},
        START,
        FREE,
        poured=made.poured,
    )
    said = [line.split() for line in run_on_microbit(files).splitlines()]
    expected = getattr(shared_module("check_forms"), forms.upper() + "_RELEASE")
    assert [int(words[1]) for words in said if words[0] == "sum"] == expected
