"""Law 7: every algorithm answers what the definition answers, after any history."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.atopss.canonical import canonical
from plugins.atopss.matching.algorithms import ALGORITHMS, matcher_named
from plugins.atopss.matching.encodings import ENCODINGS, NOT_REACHED, Encoding
from plugins.atopss.matching.naive import found_match
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import Shape, interval, point
from plugins.atopss.subscriptions import Norm, Predicate, Subscription
from plugins.atopss.vectors import encode_notification, encode_subscription
from plugins.language import Match, SubscriptionKey
from tests.plugins.atopss.subscriptions import few, subscriptions, values

SAME = [
    *(name for name in ALGORITHMS if name not in ("crisp", "regular", "improved")),
    *(f"{name}:encoding={encoding}" for name in ("regular", "improved") for encoding in ENCODINGS),
    "regular:association=matrix",
]

keys = st.tuples(st.integers(0, 4), st.integers(0, 1))
changes = st.lists(st.tuples(keys, st.one_of(st.none(), subscriptions(events=2))), max_size=12)
"""Subscriptions come, are replaced (the same key again) and go (None)."""


def encoding_of(name: str) -> Encoding:
    """Return the encoding that an algorithm was named with."""
    options = dict(option.split("=") for option in name.partition(":")[2].split(",") if option)
    return ENCODINGS[options.get("encoding", "256")]


def defined(held: dict[SubscriptionKey, Subscription], told: Notification, encoding: Encoding) -> list[Match]:
    """Return what matches by the definition, in an encoding of degrees."""
    found = []
    for key, wanted in sorted(held.items(), key=lambda one: one[0]):
        if wanted.event != told.event:
            continue
        reached = [
            encoding.degrees(one, told.values[one.attribute]) if one.attribute in told.values else NOT_REACHED
            for one in wanted.predicates
        ]
        degrees = encoding.verdict(wanted, reached)
        if degrees is not None:
            found.append(found_match(key, degrees))
    return found


@pytest.mark.parametrize("name", SAME)
@few(20)
@given(history=changes, told=st.lists(values(), min_size=1, max_size=3), event=st.integers(0, 1))
def test_law_an_algorithm_answers_by_the_definition(
    name: str,
    history: list[tuple[SubscriptionKey, Subscription | None]],
    told: list[dict[int, Shape]],
    event: int,
) -> None:
    matcher = matcher_named(name, None)
    held: dict[SubscriptionKey, Subscription] = {}
    for key, wanted in history:
        if wanted is None:
            matcher.remove(key)
            held.pop(key, None)
        else:
            matcher.add(key, encode_subscription(wanted))
            held[key] = wanted
    notifications = [Notification(at, 95, 0, event, values) for at, values in enumerate(told)]
    expected = [defined(held, one, encoding_of(name)) for one in notifications]
    vectors = [encode_notification(one) for one in notifications]
    assert [matcher.match(vector, 0, 0) for vector in vectors] == expected
    assert dict(matcher.match_batch([(vector, 0) for vector in vectors], 0)) == dict(enumerate(expected))


@given(wanted=subscriptions(norms=(Norm.MIN,)), told=values())
def test_law_reals_and_bytes_decide_alike(wanted: Subscription, told: dict[int, Shape]) -> None:
    """Thresholds are thirtieths, so for minimum and maximum a 510th is as good as a real number."""
    notification = Notification(0, 0, 0, 0, told)
    in_bytes, in_reals = (
        defined({(1, 0): wanted}, notification, ENCODINGS[name]) for name in ("256", "float")
    )
    assert in_bytes == in_reals


CRISP = [
    ("pessimistic", point(42), True),
    ("middle", point(44), False),
    ("middle", point(45), True),
    ("optimistic", point(49), False),
    ("optimistic", interval(30, 50), True),
]


@pytest.mark.parametrize(("predicates", "value", "matches"), CRISP)
def test_crisp_baselines(predicates: str, value: Shape, matches: bool) -> None:
    matcher = matcher_named(f"crisp:predicates={predicates}", None)
    matcher.add((1, 1), encode_subscription(canonical(0, Predicate(0, Shape(40, 50, 70, 80)))))
    found = matcher.match(encode_notification(Notification(0, 0, 0, 0, {0: value})), 0, 0)
    assert bool(found) == matches
