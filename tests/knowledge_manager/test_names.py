"""Everybody's own words: names in letters of any script, and answers without a regular expression."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.names import LONGEST_NAME, name_fault, normalise_name
from knowledge_manager.thesaurus.concept import target
from knowledge_manager.vocabulary.vocabulary import check_vocabulary_file
from plugins.fuzzy.authoring.compiler import compile_subscription

OWN = """name = "lawine"
version = 1

[[event]]
name = "{event}"
index = 5

[[event.attribute]]
name = "{attribute}"
index = 0
domain = [-50, 50]
terms."{term}" = {{ trapezoidal = {{ left = -20, right = -10, width = 5 }} }}

[[event.attribute]]
name = "other"
index = 1
domain = [0, 1]
terms.full = {{ shoulder = {{ side = "right", from = 0, to = 1 }} }}
"""
ASKS = """<subscription xmlns="urn:dens:subscription:1" event="{event}">
  <approximate-predicate attribute="{attribute}"><is>{term}</is></approximate-predicate>
  <approximate-predicate attribute="other"><is>full</is></approximate-predicate>
  {more}
</subscription>
"""


@pytest.mark.parametrize(
    ("event", "attribute", "term"),
    [
        ("Verschüttung", "Schneehöhe", "naß"),
        ("лавина", "глубина", "мокро"),
        ("雪崩", "深度", "湿"),
        ("snow", "depth", "wet"),
    ],
)
def test_names_in_any_script_reach_the_vector(tmp_path: Path, event: str, attribute: str, term: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN.format(event=event, attribute=attribute, term=term), "utf-8")
    assert check_vocabulary_file(path) == []
    table = load_mission_table([path])
    plain = ASKS.format(event=event, attribute=attribute, term=term, more="")
    vector = compile_subscription(plain.encode(), "x", table).vector
    calls = ASKS.format(
        event=event, attribute=attribute, term=term, more=f"<function>{attribute} * other</function>"
    )
    assert compile_subscription(calls.encode(), "x", table).vector[-2:] == vector[-2:]
    assert target("attribute", f"{event}.{attribute}").attribute == attribute


def test_a_name_typed_in_two_strokes_is_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    apart = unicodedata.normalize("NFD", "höhe")
    assert apart != "höhe"
    path.write_text(OWN.format(event="snow", attribute=apart, term=apart), "utf-8")
    attribute, _ = load_mission_table([path]).event("snow").attributes
    assert (attribute.name, list(attribute.terms)) == ("höhe", ["höhe"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("two words", "is not a name; use a letter of any script"),
        ("3d", "is not a name"),
        ("_hidden", "is not a name"),
        ("", "is not a name"),
        ("a" * 65, "has 65 characters; the maximum is 64"),
        ("ﬁre", 'write "fire"'),
        ("a\\u202eb", "is not a name"),
    ],
)
def test_invalid_name_is_reported_in_words(tmp_path: Path, name: str, message: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN.format(event=name, attribute="depth", term="wet"), "utf-8")
    [problem] = check_vocabulary_file(path)
    assert (problem.line, problem.code) == (5, "D203")
    assert message in problem.message
    assert "pattern" not in problem.message
    assert problem.message.isprintable()


def test_a_bare_key_with_other_letters_gets_the_hint_to_quote_it(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        OWN.format(event="snow", attribute="depth", term="wet").replace('terms."wet"', "terms.naß"), "utf-8"
    )
    [problem] = check_vocabulary_file(path)
    assert problem.code == "D005"
    assert problem.message.endswith('letters other than a to z stand in quotes in a key: terms."naß"')
    path.write_text("name = [naß\n", "utf-8")
    assert "quotes" not in check_vocabulary_file(path)[0].message


@given(st.text(max_size=70))
def test_every_name_is_bounded_printable_and_in_one_form(text: str) -> None:
    name = normalise_name(text)
    if name_fault(name) is None:
        assert 1 <= len(name) <= LONGEST_NAME
        assert name.isprintable()
        assert unicodedata.normalize("NFKC", name) == name == normalise_name(name)
        assert not set(name) & set(' .=-"<>&/')
