"""The examples in the docstrings of languages and knowledge run, and print what they say."""

import doctest
import importlib

import pytest

from tests.paths import ROOT

MODULES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for room in ("plugins", "knowledge_manager")
    for path in (ROOT / room).rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
