"""What the documentation shows is true: its vocabulary loads, its subscriptions compile."""

import re
from typing import Any

import pytest

from knowledge_manager.vocabulary.reader import read_vocabulary
from plugins.authoring import CompileOptions
from plugins.board_vectors import NOTIFICATION, SUBSCRIPTION
from plugins.codec_table import CodecTable
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.compiler.compile import SCHEMA
from plugins.fuzzy.patterns import pattern_bytes, short_form
from tests.paths import ROOT, page_path
from tests.plugins.fuzzy.subscriptions import EXAMPLE, TABLE
from watchdog.header import BODY_AT


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page_path(page).read_text("utf-8"), re.S)


@pytest.mark.parametrize("text", blocks("subscriptions.md", "xml"))
def test_every_subscription_compiles_without_a_doubt(text: str) -> None:
    """The effective bound is reported for every crisp bound that moves, in the documentation too."""
    told = compile_subscription(text.encode(), "docs", TABLE).warnings
    assert {warning.code for warning in told if warning.severity != "note"} <= {"D160"}


def test_the_first_example_is_the_one_of_the_tests() -> None:
    assert blocks("subscriptions.md", "xml")[0].encode() == EXAMPLE


def test_the_worked_example_of_the_vector_format_works() -> None:
    (text,) = blocks("vector-format.md", "python")
    assert text.count("assert ") == 5
    exec(compile(text, "vector-format.md", "exec"), {})


@pytest.mark.parametrize(
    ("heading", "table", "first"),
    [("Subscription", SUBSCRIPTION, BODY_AT), ("Notification", NOTIFICATION, 0)],
)
def test_the_vector_format_is_the_codec_table(heading: str, table: CodecTable[Any], first: int) -> None:
    page = page_path("vector-format.md").read_text("utf-8")
    section = page.split(f"## {heading} vector")[1].split("\n## ")[0].split("\n| aggregator")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^:|]+):", section, re.M)
    shown = rows[first:]  # the header has one row per byte
    widths = [
        str(field.width) if isinstance(field.width, int) else field.width.notation for field in table.fields
    ]
    assert [(width, name) for _, width, name in shown] == [
        (width, field.name) for width, field in zip(widths, table.fields, strict=True)
    ]
    at = first
    for (offset, width, _), field in zip(shown, table.fields, strict=True):
        assert offset == str(at)
        if not isinstance(field.width, int):
            break
        at += int(width)


def test_the_aggregating_function_that_is_shown_can_be_used() -> None:
    (text,) = blocks("subscriptions.md", "python")
    shown: dict[str, Any] = {}
    exec(compile(text, "subscriptions.md", "exec"), shown)
    source = EXAMPLE.replace(b"harmonic_mean", b"second_best")
    functions = {"second_best": shown["second_best"]}
    found = compile_subscription(source, "docs", TABLE, CompileOptions(tolerance=0.5), aggregators=functions)
    assert found.function_error is not None


@pytest.mark.parametrize(
    ("form", "order", "block"),
    [("d2c1", 3, "0182"), ("c12d", 3, "0101"), ("c3d1", 4, "0104"), ("d2c2c", 4, "0700024201034282")],
)
def test_the_papers_patterns_are_the_bytes_that_the_page_says(form: str, order: int, block: str) -> None:
    ranks = [0, 2, 1, 3] if form == "d2c2c" else list(range(order))
    content = pattern_bytes(short_form(form, ranks))
    assert (bytes([len(content)]) + content).hex() == block
    page = page_path("vectors.md").read_text("utf-8").replace("\n", " ")
    assert f"`{bytes.fromhex(block).hex(' ')}`" in page


def test_the_words_of_the_papers_figures_are_on_the_page() -> None:
    page = "".join(page_path(name).read_text("utf-8") for name in ("vector-format.md", "vectors.md"))
    assert all(
        word in page for word in ("BDSV", "BDNV", "FRP", "PP", "γ(c) = ½·2^(c/18)", "universal fuzzifier")
    )


def test_the_vocabulary_loads() -> None:
    (text,) = blocks("vocabulary.md", "toml")
    vocabulary = read_vocabulary(text, "camp.toml")
    warmth = vocabulary.events[0].attribute("warmth")
    assert len(vocabulary.events[0].attributes) == 6
    assert len(warmth.terms) == 11


def test_every_element_of_the_schema_is_documented() -> None:
    assert SCHEMA.validator() is SCHEMA.validator()
    text = (ROOT / "plugins" / "fuzzy" / "subscription.xsd").read_text("utf-8")
    names = re.findall(r'<xs:element name="([^"]+)"', text)
    documented = re.findall(r'<xs:element name="([^"]+)"[^>]*>\s*<xs:annotation><xs:documentation>', text)
    assert len(names) > 30
    assert documented == names
