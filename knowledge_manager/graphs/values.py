"""What literals are worth: which of them compare, and how.

Numbers compare with numbers, strings with strings of the same language tag by code points, instants with
instants, dates with dates; nothing else has an order. Integers and decimals compare exactly, with a double
on either side both are doubles, as SPARQL promotes them.
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
    """A literal's worth: values of one kind have an order. Doubles are floats, all else is exact."""

    kind: str
    worth: Fraction | float | str


def value_of(term: Term) -> Value | None:
    """Return what a term is worth, None where it compares with nothing."""
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
    """Return the nearest double; beyond all of them, infinity."""
    try:
        return float(worth)
    except OverflowError:
        return math.inf if worth > 0 else -math.inf


def order(one: Value | None, other: Value | None) -> int | None:
    """Return a number below, at or above 0 as `one` is below, equal to or above `other`; None where they do
    not compare.
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
    """Say whether two terms are the same, or have the same value."""
    return one == other or order(value_of(one), value_of(other)) == 0


def differs(one: Term, other: Term) -> bool:
    """Say whether two terms are neither the same nor of one value; nothing ill-formed differs."""
    return not is_ill_formed(one) and not is_ill_formed(other) and not is_equal(one, other)
