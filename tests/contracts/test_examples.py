"""The examples in docstrings run, and print what they show."""

import doctest
import importlib
import re

import pytest

from tests.paths import ROOT

MODULES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    for package in ("dens", "knowledge_manager", "plugins")
    for path in (ROOT / package).rglob("*.py")
    if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
