"""Laws that every hedge of the table keeps, and the places that must know the same words."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from knowledge_manager.vocabulary.hedges import HEDGES, Hedge
from knowledge_manager.vocabulary.reader import read_vocabulary
from plugins.curves import hedged
from plugins.fuzzy.authoring.compiler import compile_subscription
from tests.paths import ROOT
from tests.plugins.fuzzy.subscriptions import EXAMPLE, TABLE

every_hedge = pytest.mark.parametrize("hedge", HEDGES.values(), ids=HEDGES)
degrees = st.floats(0.0, 1.0)


@every_hedge
@given(one=degrees, other=degrees)
def test_a_hedge_rises_or_turns_over(hedge: Hedge, one: float, other: float) -> None:
    low, high = sorted((one, other))
    first, last = hedge.bend(low), hedge.bend(high)
    if hedge.turns_over:
        first, last = last, first
    assert 0.0 <= first <= last <= 1.0


@every_hedge
def test_a_hedge_keeps_nothing_and_all_apart(hedge: Hedge) -> None:
    ends = (1.0, 0.0) if hedge.turns_over else (0.0, 1.0)
    assert (hedge.bend(0.0), hedge.bend(1.0)) == ends


@every_hedge
@given(st.lists(degrees, min_size=1, max_size=20))
def test_a_curve_is_bent_degree_by_degree(hedge: Hedge, curve: list[float]) -> None:
    bent = hedged(np.array(curve), hedge.name)
    assert bent.tolist() == pytest.approx([hedge.bend(degree) for degree in curve], abs=1e-15)


@every_hedge
def test_no_hedge_leaves_a_curve_as_it_is_or_repeats_another(hedge: Hedge) -> None:
    curve = np.linspace(0.0, 1.0, 101)
    others = [other.bend(curve) for other in HEDGES.values() if other is not hedge]
    assert all(np.abs(hedge.bend(curve) - other).max() > 0.05 for other in [curve, *others])


@pytest.mark.parametrize(
    ("word", "degree", "exact"),
    [
        ("very", Fraction(3, 4), Fraction(9, 16)),
        ("extremely", Fraction(1, 2), Fraction(1, 8)),
        ("more_or_less", Fraction(1, 4), Fraction(1, 2)),
        ("slightly", Fraction(1, 8), Fraction(1, 2)),
        ("indeed", Fraction(1, 4), Fraction(1, 8)),
        ("indeed", Fraction(1, 2), Fraction(1, 2)),
        ("indeed", Fraction(3, 4), Fraction(7, 8)),
        ("not", Fraction(1, 3), Fraction(2, 3)),
    ],
)
def test_degrees_are_those_of_the_books(word: str, degree: Fraction, exact: Fraction) -> None:
    assert HEDGES[word].bend(float(degree)) == pytest.approx(float(exact), abs=1e-15)


@every_hedge
def test_a_subscription_with_it_compiles_to_other_bytes(hedge: Hedge) -> None:
    bent = EXAMPLE.replace(b'name="very"', f'name="{hedge.name}"'.encode())
    plain = EXAMPLE.replace(b"<is>very_high</is>", b"<is>high</is>")
    vector, unbent = (compile_subscription(text, "s.xml", TABLE).vector for text in (bent, plain))
    assert len(vector) == len(unbent)
    assert vector != unbent


@every_hedge
def test_a_vocabulary_takes_it(hedge: Hedge) -> None:
    text = (ROOT / "docs" / "reference" / "vocabulary.md").read_text("utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    changed = shown.replace('{ hedge = "very", of = "cold" }', f'{{ hedge = "{hedge.name}", of = "cold" }}')
    assert changed != shown or hedge.name == "very"
    read_vocabulary(changed, "camp.toml")


def test_a_vocabulary_refuses_another_word_at_its_place() -> None:
    text = (ROOT / "docs" / "reference" / "vocabulary.md").read_text("utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    changed = shown.replace('hedge = "very", of = "cold"', 'hedge = "verry", of = "cold"')
    with pytest.raises(DocumentError) as refused:
        read_vocabulary(changed, "camp.toml")
    (problem,) = refused.value.problems
    assert problem.code == "D203"
    assert 'unknown hedge "verry"; did you mean "very"?' in problem.message
    assert changed.splitlines()[problem.line - 1].lstrip().startswith("terms.very_cold")


def test_the_schema_offers_the_same_words_with_the_same_meanings() -> None:
    text = (ROOT / "knowledge_manager" / "vocabulary" / "hedges.xsd").read_text("utf-8")
    section = text[text.index('name="hedge-name"') :]
    offered = re.findall(r'value="([^"]+)"><xs:annotation><xs:documentation>([^<]+)<', section)
    assert offered == [(hedge.name, hedge.meaning) for hedge in HEDGES.values()]


@pytest.mark.parametrize(
    "hedge", [hedge for hedge in HEDGES.values() if hedge.codes], ids=lambda one: one.name
)
@given(degree=degrees)
def test_the_inverse_of_a_coded_hedge_undoes_it(hedge: Hedge, degree: float) -> None:
    assert hedge.codes is not None
    assert hedge.codes.inverse(hedge.bend(degree)) == pytest.approx(degree, abs=1e-7)


def test_a_mistyped_hedge_is_reported_with_its_place_and_a_fix() -> None:
    text = EXAMPLE.replace(b'name="very"', b'name="verry"')
    with pytest.raises(DocumentError) as refused:
        compile_subscription(text, "s.xml", TABLE)
    (problem,) = refused.value.problems
    assert str(problem) == (
        's.xml:5:40: error D113: attribute "name" of <hedge> is "verry"; '
        f'it is one of {", ".join(HEDGES)}; did you mean "very"?'
    )
    assert [fix.replacement for fix in problem.fixes] == ["very"]


@every_hedge
def test_the_page_about_subscriptions_has_it(hedge: Hedge) -> None:
    assert f"`{hedge.name}`" in (ROOT / "docs" / "how-to" / "subscriptions.md").read_text("utf-8")
