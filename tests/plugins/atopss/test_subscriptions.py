"""Subscriptions: thresholds, norms and Boolean functions."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.atopss.canonical import canonical
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, interval, point
from plugins.atopss.subscriptions import Form, Function, Joined, Norm, Predicate, Subscription, tree_of
from plugins.atopss.vectors import decode_notification, decode_subscription
from tests.plugins.atopss.subscriptions import (
    PUBLICATION,
    SUBSCRIPTION,
    predicates,
    raised,
    subscriptions,
    values,
)

HIGH = at_least(3700, 3850)
FIRST, SECOND = Predicate(0, HIGH, weight=3), Predicate(1, HIGH, weight=1)
READ = {0: Shape(3790, 3820, 3820, 3850), 1: interval(3790, 3850)}


@pytest.mark.parametrize(
    ("norm", "degrees"),
    [
        (Norm.MIN, (425, 306)),
        (Norm.PRODUCT, (2 * 212, 2 * 102)),
        (Norm.AVERAGE, (2 * 234, 2 * 162)),
        (Norm.WEIGHTED_AVERAGE, (2 * 223, 2 * 166)),
    ],
)
def test_golden_norms(norm: Norm, degrees: Degrees) -> None:
    assert canonical(0, Joined(False, (FIRST, SECOND)), norm).judge(READ) == degrees


def test_the_example_matches_and_not_without_the_age() -> None:
    wanted, told = decode_subscription(SUBSCRIPTION[3:]), decode_notification(PUBLICATION)
    assert wanted.judge(told.values) == (510, 446)
    assert wanted.judge({at: shape for at, shape in told.values.items() if at != 2}) is None


def test_or_by_norms() -> None:
    either = Joined(True, (FIRST, SECOND))
    assert canonical(0, either).judge({0: READ[0]}) == (425, 340)
    assert canonical(0, either, Norm.PRODUCT).judge({0: READ[0], 1: READ[0]}) == (496, 454)


def test_unknown_is_a_value_and_absent_is_none() -> None:
    wanted = canonical(0, FIRST)
    assert wanted.judge({0: ANYTHING}) == (510, 0)
    assert wanted.judge({1: ANYTHING}) is None


def test_a_mean_wants_every_predicate_reached() -> None:
    mean = canonical(0, Joined(False, (FIRST, SECOND)), Norm.AVERAGE)
    assert mean.judge({0: point(4000)}) is None
    assert mean.judge({0: point(4000), 1: point(3000)}) is None


def test_thresholds_of_predicates_zero_what_is_below() -> None:
    careful = replace(FIRST, necessity=22)
    either = canonical(0, Joined(True, (careful, SECOND)))
    assert careful.degrees(READ[0]) == (0, 0)
    assert either.judge(READ) == (510, 306)


@given(wanted=subscriptions(), told=values())
def test_law_necessity_of_the_whole_is_at_most_its_possibility(
    wanted: Subscription, told: dict[int, Shape]
) -> None:
    everything = replace(wanted, possibility=0, necessity=0)
    found = everything.judge(told)
    assert found is None or found[0] >= found[1]


@given(wanted=subscriptions(), told=values(), more=st.integers(1, 5), which=st.booleans())
def test_law_higher_thresholds_match_less(
    wanted: Subscription, told: dict[int, Shape], more: int, which: bool
) -> None:
    higher = replace(
        wanted,
        possibility=raised(wanted.possibility, more if which else 0),
        necessity=raised(wanted.necessity, 0 if which else more),
    )
    if higher.judge(told) is not None:
        assert wanted.judge(told) == higher.judge(told)


@given(wanted=subscriptions(norms=(Norm.MIN,)), told=values())
def test_law_min_is_the_tree_taken_literally(wanted: Subscription, told: dict[int, Shape]) -> None:
    def degree(function: Function, kind: int) -> int:
        if isinstance(function, Predicate):
            return function.degrees(told.get(function.attribute))[kind]
        return (max if function.is_or else min)(degree(part, kind) for part in function.parts)

    tree = tree_of(wanted)
    assert wanted.joined([one.degrees(told.get(one.attribute)) for one in wanted.predicates]) == (
        degree(tree, 0),
        degree(tree, 1),
    )


@given(parts=st.lists(predicates(), min_size=2, max_size=5), is_or=st.booleans())
def test_what_is_flat_is_written_flat(parts: list[Predicate], is_or: bool) -> None:
    left, right = Joined(is_or, tuple(parts)), Joined(is_or, (parts[0], Joined(is_or, tuple(parts[1:]))))
    one, other = canonical(0, left), canonical(0, right)
    assert one == other
    assert one.form in (Form.AND, Form.OR)


def test_too_large_is_refused() -> None:
    many = tuple(Predicate(at % 60, point(at)) for at in range(65))
    with pytest.raises(ValueError, match="at most 64 predicates"):
        canonical(0, Joined(False, many))
    with pytest.raises(ValueError, match="at most 63 operands"):
        canonical(0, Joined(False, (many[0], Joined(True, many[:64]))))
    deep: Function = Joined(False, many[:2])
    for level in range(60):
        deep = Joined(level % 2 == 0, (many[2], deep))
    with pytest.raises(ValueError, match="nested more than 48 deep"):
        canonical(0, deep)
