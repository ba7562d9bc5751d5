"""The values of literals: which of them are comparable, and how.

Numbers compare with numbers, strings with strings of the same language tag by code points, instants with
instants, dates with dates. Integers and decimals compare exactly; with a double on either side both are
promoted to double, as in SPARQL.
"""

import math
from fractions import Fraction
from typing import Final, NamedTuple

from knowledge_manager.graphs.terms import (
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INTEGER,
    LANGUAGE_STRING,
    STRING,
    Literal,
    Term,
    days_of_date,
    is_ill_formed,
    seconds_of_instant,
)

NUMBER: Final = "number"
"""The kind of all numbers; other kinds are the datatype, strings with their language tag."""


class Value(NamedTuple):
    """The value of a literal. Values of one kind are ordered. Doubles are floats, all others exact."""

    kind: str
    worth: Fraction | float | str


def value_of(term: Term) -> Value | None:
    """Return the value of a term, or None if it is not comparable."""
    if not isinstance(term, Literal) or is_ill_formed(term):
        return None
    if term.datatype in (STRING, LANGUAGE_STRING):
        return Value(f"string@{term.language}", term.text)
    if term.datatype in (INTEGER, DECIMAL):
        return Value(NUMBER, Fraction(term.text))
    if term.datatype == DOUBLE:
        return Value(NUMBER, float(term.text.replace("INF", "inf").replace("NaN", "nan")))
    if term.datatype == INSTANT:
        whole, part = seconds_of_instant(term.text)
        return Value(INSTANT, whole + Fraction(part))
    if term.datatype == DATE:
        return Value(DATE, Fraction(days_of_date(term.text)))
    return None


def as_double(worth: Fraction) -> float:
    """Return the nearest double, or infinity."""
    try:
        return float(worth)
    except OverflowError:
        return math.inf if worth > 0 else -math.inf


def order(one: Value | None, other: Value | None) -> int | None:
    """Return a number below, at or above 0 as `one` is less than, equal to or greater than `other`; None if
    they are not comparable.
    """
    if one is None or other is None or one.kind != other.kind:
        return None
    first, second = one.worth, other.worth
    if isinstance(first, str) and isinstance(second, str):
        return (first > second) - (first < second)
    assert not isinstance(first, str), "one kind has one sort of values"
    assert not isinstance(second, str), "one kind has one sort of values"
    if isinstance(first, float) or isinstance(second, float):
        first = first if isinstance(first, float) else as_double(first)
        second = second if isinstance(second, float) else as_double(second)
        if math.isnan(first) or math.isnan(second):
            return None
    return (first > second) - (first < second)


def is_equal(one: Term, other: Term) -> bool:
    """Return whether two terms are identical or have the same value."""
    return one == other or order(value_of(one), value_of(other)) == 0


def differs(one: Term, other: Term) -> bool:
    """Return whether two terms have different values; False for ill-formed literals."""
    return not is_ill_formed(one) and not is_ill_formed(other) and not is_equal(one, other)
