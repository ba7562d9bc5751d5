"""No room knows a subscription language by name: neither in code nor in words, but for a reason."""

import re
from pathlib import Path

from plugins.registry import BUILT_IN, DEFAULT
from tests.paths import ROOT

ROOMS = (
    "boards",
    "dens",
    "documents",
    "emulation",
    "knowledge_manager",
    "nodes",
    "plugins/authoring",
    "spark_analysis",
    "studio",
    "traces",
)

ALLOWED = {
    "boards/board_language.py": "a board has room for one language, and this says which",
    "boards/mains/board_main.py": "a board's own program; it runs where there is no registry",
    "emulation/fault_injection/language_pool.py": "documents and their oracle, for each shipped language",
    "plugins/authoring/term_sets.py": "the element <fuzzy-set>, which every language with terms may have",
    "plugins/authoring/words.py": "the element <fuzzy-set>, which every language with terms may have",
    "studio/commands/experiment.py": "the family of experiments that a person asks for",
    "studio/experiments/registry.py": "which families of experiments there are",
}
"""Files that may say the name of the default language, in code, comment or text, and why."""


ABOUT_ONE = ("studio/experiments/fuzzy/",)
"""Folders that are about one language: the figures of a paper about it."""


def sources() -> list[Path]:
    found = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return [path for path in found if not str(path.relative_to(ROOT)).startswith(ABOUT_ONE)]


def test_nobody_says_the_name_of_the_default_language() -> None:
    name = re.compile(DEFAULT, re.IGNORECASE)
    saying = {
        str(path.relative_to(ROOT)) for path in sources() if name.search(path.read_text("utf-8")) is not None
    }
    assert saying == set(ALLOWED), "ask plugins.registry, or give a reason here"


def test_nobody_knows_a_language_by_its_number() -> None:
    """`language == 1` is a name too."""
    numbers = "|".join(str(language.language_id) for language in BUILT_IN)
    compared = re.compile(rf"\blanguage(?:_id)? (?:==|!=) (?:{numbers})\b")
    found = [str(path.relative_to(ROOT)) for path in sources() if compared.search(path.read_text("utf-8"))]
    assert found == []
