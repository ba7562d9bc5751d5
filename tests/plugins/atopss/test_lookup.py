"""Look-up: the least sets of attributes with which a subscription can be satisfied."""

from dataclasses import replace

from hypothesis import given

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.canonical import canonical
from plugins.atopss.lookup import AtopssLookUp
from plugins.atopss.shapes.shapes import Shape, point
from plugins.atopss.subscriptions import Function, Joined, Predicate, Subscription
from plugins.atopss.terms import attribute_sets
from plugins.atopss.vectors import encode_subscription
from plugins.language import Requirement
from tests.plugins.atopss.subscriptions import SUBSCRIPTION, subscriptions, values

TABLE = load_mission_table(["housing"])


def test_the_example_needs_three_attributes() -> None:
    found = AtopssLookUp(TABLE).question(SUBSCRIPTION[3:]).alternatives
    assert found == (Requirement(3, frozenset({0, 1, 2})),)


def test_either_of_two() -> None:
    a, b, c = (Predicate(at, point(1)) for at in range(3))
    wanted = canonical(3, Joined(False, (a, Joined(True, (b, Joined(False, (a, c)))))))
    found = AtopssLookUp(TABLE).question(encode_subscription(wanted)).alternatives
    assert found == (Requirement(3, frozenset({0, 1})), Requirement(3, frozenset({0, 2})))
    absorbed = canonical(3, Joined(True, (a, Joined(False, (replace(a, shape=point(2)), b)))))
    found = AtopssLookUp(TABLE).question(encode_subscription(absorbed)).alternatives
    assert found == (Requirement(3, frozenset({0})),)


@given(wanted=subscriptions(), told=values())
def test_law_match_reports_an_alternative(wanted: Subscription, told: dict[int, Shape]) -> None:
    sets = attribute_sets(wanted, 64)
    if wanted.judge(told) is not None:
        assert any(one <= told.keys() for one in sets)
    assert not any(one < other for one in sets for other in sets)


def test_too_many_alternatives_are_each_attribute_alone() -> None:
    pairs: list[Function] = [
        Joined(True, (Predicate(2 * at, point(1)), Predicate(2 * at + 1, point(1)))) for at in range(7)
    ]
    wanted = canonical(0, Joined(False, tuple(pairs)))
    assert attribute_sets(wanted, 64) == [frozenset([at]) for at in range(14)]
    few = canonical(0, Joined(False, tuple(pairs[:2])))
    assert len(attribute_sets(few, 64)) == 4
    assert all(len(one) == 2 for one in attribute_sets(few, 64))
