"""The examples in the docstrings of the overlay are true."""

import doctest
import importlib

import pytest

from tests.paths import ROOT

OVERLAY = ROOT / "dens" / "overlay"
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in OVERLAY.rglob("*.py")
    if any(line.lstrip().startswith(">>> ") for line in path.read_text(encoding="utf-8").splitlines())
)


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_are_true(module: str) -> None:
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0
