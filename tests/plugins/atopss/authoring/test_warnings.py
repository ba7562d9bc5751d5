"""What bytes cannot keep is reported: rounded thresholds, distorted curves."""

import math

import pytest

from dens.config.problems import DocumentError, Problem
from plugins.atopss.authoring.deviations import TOLERATED
from plugins.atopss.shapes.degrees import judged
from plugins.atopss.shapes.scale import TOP
from plugins.atopss.shapes.shapes import point
from plugins.atopss.vectors import decode_subscription
from plugins.authoring import CompileOptions
from tests.plugins.atopss.authoring.test_compile import AUTHORING, TABLE
from tests.plugins.atopss.short import SHORT


def document(inner: str, attributes: str = "", kind: str = "subscription", event: str = "apartment") -> bytes:
    """Return a document with these elements."""
    return f'<{kind} xmlns="urn:dens:approximate:1" event="{event}" {attributes}>{inner}</{kind}>'.encode()


def warned(source: bytes) -> list[Problem]:
    """Return the warnings of a document: those of compiling and of checking are the same."""
    found = AUTHORING.compile(source, "f.xml", TABLE).warnings
    assert list(found) == AUTHORING.check(source, "f.xml", TABLE)
    assert all(problem.severity == "warning" for problem in found)
    if found:
        with pytest.raises(DocumentError):
            AUTHORING.compile(source, "f.xml", TABLE, CompileOptions(strict=True))
    return list(found)


def asked(thresholds: str) -> str:
    """Return a predicate with these thresholds."""
    return f'<approximate-predicate attribute="size" {thresholds}><is>medium</is></approximate-predicate>'


@pytest.mark.parametrize("name", ["possibility", "necessity"])
@pytest.mark.parametrize(
    ("text", "kept"), [("0.3", "5/15 (0.333)"), ("0.7", "11/15 (0.733)"), ("0.51", "8/15 (0.533)")]
)
def test_a_rounded_threshold_is_reported_where_it_stands(name: str, text: str, kept: str) -> None:
    said = f'{name}="{text}"'
    (of_predicate,) = warned(document("\n" + asked(said)))
    (of_whole,) = warned(document(asked(""), said))
    for problem, line in ((of_predicate, 2), (of_whole, 1)):
        assert (problem.code, problem.line) == ("D169", line)
        assert problem.message.startswith(f"{name} {text} is rounded up to {kept}")


@pytest.mark.parametrize("text", ["0", "0.2", "0.4", "0.5", "0.50", "0.6", "0.8", "1"])
def test_an_exact_threshold_is_not_reported(text: str) -> None:
    said = f'possibility="{text}" necessity="{text}"'
    assert warned(document(asked(said), said)) == []


def gaussian(sigma: float) -> str:
    """Return a predicate on the age, in whole years, around 50."""
    curve = f'<fuzzy-set term="x"><gaussian center="50" sigma="{sigma}"/></fuzzy-set><is>x</is>'
    return f'<approximate-predicate attribute="age">{curve}</approximate-predicate>'


@pytest.mark.parametrize("sigma", [0.3, 0.5, 1, 2, 3, 4, 6, 10, 20, 30])
def test_a_narrow_normal_curve_is_reported_where_it_differs(sigma: float) -> None:
    source = document(gaussian(sigma))
    shape = decode_subscription(AUTHORING.compile(source, "f.xml", TABLE).body).predicates[0].shape
    differences = [
        abs(judged(shape, point(x))[0] / TOP - math.exp(-0.5 * ((x - 50) / sigma) ** 2)) for x in range(200)
    ]
    found = warned(source)
    assert [problem.code for problem in found] == (["D170"] if max(differences) > TOLERATED else [])


def test_the_distortion_of_a_narrow_curve_in_words() -> None:
    (problem,) = warned(document(gaussian(1)))
    assert "whose values have steps of 1 year" in problem.message
    assert "at 48 year its degree is 0.25 instead of 0.14" in problem.message


@pytest.mark.parametrize("width", ["0.4", "2.5"])
def test_other_narrow_curves_and_values_are_reported(width: str) -> None:
    curve = f'<fuzzy-set term="x"><triangular center="50.3" width="{width}"/></fuzzy-set><is>x</is>'
    predicate = f'<approximate-predicate attribute="age">{curve}</approximate-predicate>'
    assert [one.code for one in warned(document(predicate))] == ["D170"]
    told = document(f'<value attribute="age">{curve}</value>', kind="publication")
    assert [one.code for one in AUTHORING.check(told, "p.xml", TABLE)] == ["D170"]
    made = AUTHORING.compile_publication(told, "p.xml", TABLE, 0)
    assert made is not None
    assert [one.code for one in made.warnings] == ["D170"]


def test_a_term_of_a_vocabulary_is_reported_where_it_is_used() -> None:
    source = document(
        '<approximate-predicate attribute="fine"><is>about_two</is></approximate-predicate>', event="short"
    )
    assert [one.code for one in AUTHORING.check(source, "f.xml", SHORT)] == ["D170"]
    whole = document(
        '<approximate-predicate attribute="fine"><is>low</is></approximate-predicate>', event="short"
    )
    assert AUTHORING.check(whole, "f.xml", SHORT) == []


@pytest.mark.parametrize(
    "inner",
    [
        '<fuzzy-set term="x"><trapezoidal left="40" right="60" width="3"/></fuzzy-set><is>x</is>',
        '<fuzzy-set term="x"><triangular center="50" width="1"/></fuzzy-set><is-not>x</is-not>',
        '<fuzzy-set term="x"><hedge name="very"/><term>old</term></fuzzy-set><is>x</is>',
        "<is>old</is>",
    ],
)
def test_curves_with_corners_on_whole_steps_are_not_reported(inner: str) -> None:
    assert warned(document(f'<approximate-predicate attribute="age">{inner}</approximate-predicate>')) == []
