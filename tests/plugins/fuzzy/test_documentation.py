"""What the documentation shows is true: its vocabulary loads, its subscriptions compile."""

import re

import pytest

from knowledge_manager.vocabulary_reader import read_vocabulary
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.schema import SCHEMA
from tests.paths import ROOT
from tests.plugins.fuzzy.subscriptions import EXAMPLE, TABLE

DOCS = ROOT / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text("utf-8"), re.S)


@pytest.mark.parametrize("text", blocks("subscriptions.md", "xml"))
def test_every_subscription_compiles_without_a_doubt(text: str) -> None:
    """What a crisp bound really means is told of every one that moves, of the documentation's too."""
    told = compile_subscription(text.encode(), "docs", TABLE).warnings
    assert {warning.code for warning in told} <= {"D160"}


def test_the_first_example_is_the_one_of_the_tests() -> None:
    assert blocks("subscriptions.md", "xml")[0].encode() == EXAMPLE


def test_the_vocabulary_loads() -> None:
    (text,) = blocks("vocabulary.md", "toml")
    vocabulary = read_vocabulary(text, "camp.toml")
    warmth = vocabulary.events[0].attribute("warmth")
    assert len(vocabulary.events[0].attributes) == 6
    assert len(warmth.terms) == 10


def test_every_element_of_the_schema_is_documented() -> None:
    assert SCHEMA.validator() is SCHEMA.validator()
    text = (DOCS.parent / "plugins" / "fuzzy" / "subscription.xsd").read_text("utf-8")
    names = re.findall(r'<xs:element name="([^"]+)"', text)
    documented = re.findall(r'<xs:element name="([^"]+)"[^>]*>\s*<xs:annotation><xs:documentation>', text)
    assert len(names) > 30
    assert documented == names
