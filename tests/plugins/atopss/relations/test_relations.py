"""Laws 11 and 12: what covers, covers for every value; what is merged covers its parts."""

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.canonical import canonical
from plugins.atopss.filter import AtopssFilter
from plugins.atopss.matching.naive import NaiveMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.published_values import values_of_reading
from plugins.atopss.relations.cuts import stands_for
from plugins.atopss.relations.merging import similarity
from plugins.atopss.relations.merging_table import MergingTable
from plugins.atopss.relations.relations import AtopssRelations, covers
from plugins.atopss.shapes.degrees import judged
from plugins.atopss.shapes.shapes import Shape, at_least, at_most, interval, point
from plugins.atopss.subscriptions import Form, Joined, Norm, Predicate, Subscription
from plugins.atopss.vectors import encode_notification, encode_subscription
from plugins.language import SubscriptionKey
from plugins.readings import ExactReading
from tests.plugins.atopss.shapes import shapes
from tests.plugins.atopss.subscriptions import few, predicates, raised, subscriptions, thresholds, values

RELATIONS = AtopssRelations(None)


@st.composite
def flat(draw: st.DrawFn, *, most: int = 2) -> Subscription:
    """Flat subscriptions on two attributes, which often cover each other."""
    leaves = tuple(draw(st.lists(predicates(most=most), min_size=1, max_size=2)))
    return canonical(
        0, Joined(draw(st.booleans()), leaves), possibility=draw(thresholds), necessity=draw(thresholds)
    )


@st.composite
def narrowed(draw: st.DrawFn, wide: Subscription) -> Subscription:
    """Subscriptions that are often covered by another: narrower shapes, higher thresholds."""
    leaves = []
    for leaf in wide.predicates:
        a, b, c, d = (draw(st.integers(0, 3)) for _ in range(4))
        shape = leaf.shape
        sign = -1 if leaf.complement else 1
        moved = [shape.m1 + sign * a, shape.m2 + sign * b, shape.m3 - sign * c, shape.m4 - sign * d]
        changed = Shape(*moved, shape.left, shape.right)
        is_sound = sorted(moved) == moved and min(shape.m1, -shape.m4) > -1000
        same_slopes = (moved[0] < moved[1]) == (shape.m1 < shape.m2) and (moved[2] < moved[3]) == (
            shape.m3 < shape.m4
        )
        kept = changed if is_sound and same_slopes else shape
        higher = raised(leaf.possibility, draw(st.integers(0, 2)))
        leaves.append(replace(leaf, shape=kept, possibility=higher))
    is_or = wide.form == Form.OR
    more = draw(st.lists(predicates(most=2), max_size=1)) if not is_or else []
    return canonical(
        0,
        Joined(is_or, (*leaves, *more)),
        possibility=raised(wide.possibility, draw(st.integers(0, 2))),
        necessity=raised(wide.necessity, draw(st.integers(0, 2))),
    )


@given(data=st.data(), wide=flat())
def test_law_nothing_satisfies_what_is_covered_alone(data: st.DataObject, wide: Subscription) -> None:
    narrow = data.draw(st.one_of(narrowed(wide), flat()))
    if covers(wide, narrow):
        for told in data.draw(st.lists(values(most=2), min_size=3, max_size=6)):
            assert narrow.judge(told) is None or wide.judge(told) is not None


@given(one=subscriptions(), two=flat(), three=flat())
def test_law_covering_is_an_order(one: Subscription, two: Subscription, three: Subscription) -> None:
    assert covers(one, one)
    if covers(one, two) and covers(two, three):
        assert covers(one, three)


def test_law_what_stands_for_another_is_reached_with_it() -> None:
    """Many pairs on a short axis, where borders coincide, each with values that may distinguish them."""
    chance = random.Random(26)
    standing = 0
    for _ in range(6000):
        is_complement = chance.random() < 0.5
        one, other = (Predicate(0, _near(chance), is_complement) for _ in range(2))
        wanted, reached = ((chance.choice(LEVELS), chance.choice(LEVELS)) for _ in range(2))
        if not stands_for(one, other, wanted, reached):
            continue
        standing += 1
        for _ in range(12):
            value = _near(chance)
            told, own = (judged(leaf.shape, value, complement=is_complement) for leaf in (other, one))
            if told[0] >= max(17 * reached[0], 2) and told[1] >= 17 * reached[1]:
                assert own[0] >= max(17 * wanted[0], 2)
                assert own[1] >= 17 * wanted[1]
    assert standing > 200


LEVELS = (0, 0, 6, 15, 16, 24, 30)


def _near(chance: random.Random) -> Shape:
    m1, m2, m3, m4 = sorted(chance.randrange(7) for _ in range(4))
    if chance.random() < 0.3:
        m1 = m2
    if chance.random() < 0.3:
        m4 = m3
    return Shape(m1, m2, m3, m4)


COVERING = [
    (at_least(10), at_least(20), True),
    (at_least(20), at_least(10), False),
    (Shape(0, 10, 20, 30), Shape(5, 12, 18, 29), True),
    (Shape(0, 10, 20, 30), Shape(5, 9, 18, 29), True),
    (interval(3, 5), point(4), True),
    (at_most(5, 9), at_most(5), True),
]


@pytest.mark.parametrize(("wide", "narrow", "expected"), COVERING)
def test_cuts_decide(wide: Shape, narrow: Shape, expected: bool) -> None:
    one, other = (encode_subscription(canonical(0, Predicate(0, shape))) for shape in (wide, narrow))
    assert RELATIONS.covers(one, other) is expected


def test_covering_finds_more_than_pointwise_inclusion() -> None:
    """At the level that counts the cut is contained, though the curve is not below everywhere."""
    wide, narrow = Predicate(0, Shape(5, 10, 20, 25)), Predicate(0, Shape(0, 12, 18, 30), possibility=24)
    assert covers(canonical(0, wide), canonical(0, narrow))


@given(one=shapes(), other=shapes(), least=st.tuples(*[thresholds] * 4))
def test_law_a_merger_covers_both(one: Shape, other: Shape, least: tuple[int, ...]) -> None:
    first = canonical(0, Predicate(0, one, False, least[0]), necessity=least[1])
    second = canonical(0, Predicate(0, other, False, least[2]), necessity=least[3])
    bodies = [encode_subscription(first), encode_subscription(second)]
    merged = RELATIONS.merge(*bodies)
    assume(merged is not None)
    assert merged is not None
    assert all(RELATIONS.covers(merged, body) for body in bodies)
    assert RELATIONS.merge(bodies[1], bodies[0]) == merged


def test_merging_without_shared_attributes_is_none() -> None:
    one, other = (encode_subscription(canonical(0, Predicate(at, point(1)))) for at in (0, 1))
    assert RELATIONS.merge(one, other) is None
    assert RELATIONS.similarity(one, other) is None
    mean = canonical(0, Joined(False, (Predicate(0, point(1)), Predicate(1, point(1)))), Norm.AVERAGE)
    assert RELATIONS.merge(encode_subscription(mean), encode_subscription(mean)) is None


def test_golden_overlap() -> None:
    one, other = (
        canonical(0, Predicate(0, shape)) for shape in (Shape(0, 10, 20, 30), Shape(10, 20, 30, 40))
    )
    found = similarity(one, other, {})
    assert found is not None
    assert found[0] == pytest.approx(1 / 3)
    assert found[1:] == (510, 0)
    alike = canonical(0, Predicate(0, point(7)))
    assert similarity(alike, alike, {0: 100}) == (1.0, 510, 510)
    endless = canonical(0, Predicate(0, at_least(40, 80)))
    assert similarity(endless, endless, {0: 200}) == (1.0, 510, 255)


keys = st.tuples(st.integers(0, 3), st.integers(0, 1))


@st.composite
def simple(draw: st.DrawFn) -> bytes:
    """Bodies with one predicate, near each other."""
    shape = draw(shapes(reach=12, curved=False))
    return encode_subscription(
        canonical(0, Predicate(draw(st.integers(0, 1)), shape), possibility=draw(thresholds))
    )


@few(60)
@given(history=st.lists(st.tuples(keys, st.one_of(st.none(), simple())), max_size=14))
def test_law_a_table_covers_what_it_holds(history: list[tuple[SubscriptionKey, bytes | None]]) -> None:
    table = MergingTable(RELATIONS, overlap=0.2)
    held: dict[SubscriptionKey, bytes] = {}
    announced: set[bytes] = set()
    for key, body in history:
        changes = table.remove(key) if body is None else table.insert(key, body)
        held = {one: other for one, other in held.items() if one != key}
        if body is not None:
            held[key] = body
        announced |= set(changes.announced)
        for wanted in held.values():
            assert any(RELATIONS.covers(root, wanted) for root in announced), "make before break"
        announced -= set(changes.withdrawn)
        assert announced == set(table.bodies())
        for entry in table.entries:
            assert not any(
                RELATIONS.covers(other.body, entry.body) for other in table.entries if other is not entry
            )
            folded, *rest = (entry.members[one] for one in sorted(entry.members))
            for one in rest:
                joined = RELATIONS.merge(folded, one)
                assert joined is not None
                folded = joined
            assert entry.body == folded
        known = [one for entry in table.entries for one in (*entry.members, *entry.covered)]
        assert sorted(known) == sorted(held)


@given(asked=subscriptions(), told=values())
def test_law_what_lies_in_an_advertisement_may_satisfy(asked: Subscription, told: dict[int, Shape]) -> None:
    """An advertisement of exactly the published values admits every subscription that they satisfy."""
    leaves = tuple(Predicate(attribute, shape) for attribute, shape in told.items())
    advertisement = encode_subscription(canonical(0, Joined(False, leaves)))
    if asked.judge(told) is not None:
        assert RELATIONS.advertises(advertisement, encode_subscription(asked))
        assert RELATIONS.intersects(advertisement, encode_subscription(asked))


def test_the_forest_of_a_mission() -> None:
    table = load_mission_table(["housing"])
    forest = AtopssRelations(table).forest()
    for number, low in enumerate((30, 10, 20)):
        forest.insert((number, 0), encode_subscription(canonical(3, Predicate(1, at_least(low)))))
    assert forest.roots() == [(1, 0)]


@given(data=st.data(), wide=flat())
def test_law_a_source_that_filters_for_one_serves_what_it_stands_for(
    data: st.DataObject, wide: Subscription
) -> None:
    narrow = data.draw(st.one_of(narrowed(wide), flat()))
    bodies = [encode_subscription(one) for one in (wide, narrow)]
    bodies = [body[:3] + bytes([body[3] | 3]) + body[4:] for body in bodies]
    table = load_mission_table(["housing"])
    if not AtopssRelations(table).stands_for(*bodies):
        return
    source, matcher = AtopssFilter(table), NaiveMatcher(table)
    source.add((1, 0), bodies[0])
    matcher.add((1, 1), bodies[1])
    for four in data.draw(st.lists(st.tuples(*[st.integers(0, 40)] * 4), min_size=2, max_size=4)):
        reading = ExactReading()
        reading.clear(3, 1, 0)
        low, core_low, core_high, high = sorted(four)
        for attribute in table.event("apartment").attributes[:2]:
            reading.measure(attribute, (low, core_low, core_high, high))
        whole = Notification(0, 0, 0, 3, values_of_reading(reading, table))
        if matcher.match(encode_notification(whole), 0, 0):
            (release,) = source.feed(reading)
            assert matcher.match(release.vector, 0, 0)
