"""No room knows a subscription language by name: neither in code nor in words, but for a reason."""

import re
from pathlib import Path

from plugins.registry import BUILT_IN, DEFAULT
from tests.paths import ROOT

ROOMS = (
    "dens",
    "emulation",
    "knowledge_manager",
    "plugins/authoring",
    "spark_analysis",
)

ALLOWED = {
    "dens/boards/board_language.py": "a board has room for one language, and this says which",
    "dens/boards/mains/board_main.py": "a board's own program; it runs without a registry",
    "emulation/fault_injection/language_pool.py": "documents and their oracle, for each shipped language",
    "plugins/authoring/xml/term_sets.py": "the element <fuzzy-set>, which every language with terms may have",
    "plugins/authoring/xml/words.py": "the element <fuzzy-set>, which every language with terms may have",
}
"""Files that may say the name of the default language, in code, comment or text, and why."""


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def test_no_module_names_the_default_language() -> None:
    name = re.compile(DEFAULT, re.IGNORECASE)
    saying = {
        str(path.relative_to(ROOT)) for path in sources() if name.search(path.read_text("utf-8")) is not None
    }
    assert saying == set(ALLOWED), "ask plugins.registry, or give a reason here"


def test_no_module_uses_language_numbers() -> None:
    """`language == 1` is a name too."""
    numbers = "|".join(str(entry.number) for entry in BUILT_IN)
    compared = re.compile(rf"\blanguage(?:_id)? (?:==|!=) (?:{numbers})\b")
    found = [str(path.relative_to(ROOT)) for path in sources() if compared.search(path.read_text("utf-8"))]
    assert found == []
