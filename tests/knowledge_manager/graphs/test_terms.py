"""Terms have one spelling, and values compare as they should."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.graphs.terms import (
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INTEGER,
    STRING,
    XSD,
    Blank,
    Iri,
    TermError,
    iri,
    is_ill_formed,
    literal,
    written,
)
from knowledge_manager.graphs.values import differs, is_equal, order, value_of


@pytest.mark.parametrize(
    ("text", "datatype", "canonical"),
    [
        ("007", INTEGER, "7"),
        (" -0 ", INTEGER, "0"),
        ("+5", XSD + "int", "5"),
        ("5", DECIMAL, "5.0"),
        ("-00.500", DECIMAL, "-0.5"),
        ("-0.0", DECIMAL, "0.0"),
        (".5", DECIMAL, "0.5"),
        ("1e3", DOUBLE, "1000.0"),
        ("1E400", DOUBLE, "INF"),
        ("0.10", XSD + "float", "0.1"),
        ("1", BOOLEAN, "true"),
        ("2026-05-01T02:00:00+02:00", INSTANT, "2026-05-01T00:00:00Z"),
        ("2026-05-01T00:00:00", INSTANT, "2026-05-01T00:00:00Z"),
        ("2026-04-30T24:00:00Z", INSTANT, "2026-05-01T00:00:00Z"),
        ("2026-05-01T00:00:00.500Z", INSTANT, "2026-05-01T00:00:00.5Z"),
        ("2026-05-01Z", DATE, "2026-05-01"),
    ],
)
def test_spellings(text: str, datatype: str, canonical: str) -> None:
    found = literal(text, datatype)
    assert found.text == canonical
    assert literal(found.text, found.datatype) == found
    assert not is_ill_formed(found)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("abc", INTEGER),
        ("5.0", INTEGER),
        ("9" * 5000, INTEGER),
        ("1e5", DECIMAL),
        ("inf", DOUBLE),
        ("yes", BOOLEAN),
        ("2026-02-30T00:00:00Z", INSTANT),
        ("2026-05-01T00:00:60Z", INSTANT),
        ("0001-01-01T00:00:00+14:00", INSTANT),
        ("2026-05-01+02:00", DATE),
    ],
)
def test_what_does_not_fit_is_kept_and_equals_only_itself(text: str, datatype: str) -> None:
    found = literal(text, datatype)
    assert (found.text, is_ill_formed(found), value_of(found)) == (text, True, None)
    assert is_equal(found, found)
    assert not differs(found, literal("x"))


def test_terms_that_are_none() -> None:
    for text in ("no scheme", "urn:a b", "", "/path", "urn:<"):
        with pytest.raises(TermError):
            iri(text)
    with pytest.raises(TermError, match="language tag"):
        literal("x", language="english!")


def test_two_terms_of_one_value() -> None:
    five, also_five, double = literal("5", INTEGER), literal("5.0", DECIMAL), literal("5", DOUBLE)
    assert len({five, also_five, double}) == 3
    assert is_equal(five, also_five)
    assert is_equal(also_five, double)


@given(st.integers(), st.fractions(max_denominator=10**6), st.floats())
def test_numbers_compare_exactly_unless_one_is_a_double(whole: int, part: Fraction, double: float) -> None:
    scaled = int(part * 10**6)
    decimal = literal(f"{'-' if scaled < 0 else ''}{abs(scaled) // 10**6}.{abs(scaled) % 10**6:06}", DECIMAL)
    exact = Fraction(scaled, 10**6)
    found = order(value_of(literal(str(whole), INTEGER)), value_of(decimal))
    assert found == (whole > exact) - (whole < exact)
    written_double = repr(double).replace("inf", "INF").replace("nan", "NaN")
    found = order(value_of(literal(written_double, DOUBLE)), value_of(decimal))
    if math.isnan(double):
        assert found is None
    else:
        assert found == (double > float(exact)) - (double < float(exact))


def test_what_has_no_order() -> None:
    some = [literal("5", INTEGER), literal("5"), literal("5", language="en"), literal("2026-05-01", DATE)]
    some += [literal("2026-05-01T00:00:00Z", INSTANT)]
    for one in some:
        for other in some:
            assert (order(value_of(one), value_of(other)) is None) == (one != other)
    assert value_of(literal("true", BOOLEAN)) is None
    assert value_of(Iri("urn:a")) is None


def test_written() -> None:
    assert written(Iri("urn:a")) == "<urn:a>"
    assert written(Blank(3)) == "_:b3"
    assert written(literal('a "b"\n\t', STRING)) == '"a \\"b\\"\\n\\u0009"'
    assert written(literal("x", language="EN")) == '"x"@en'
    assert written(literal("5", INTEGER)) == f'"5"^^<{INTEGER}>'
