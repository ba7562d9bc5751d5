"""Law 11: the forest in rows against plain comparisons, after any history, one by one and in columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.atopss.canonical import canonical
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.relations.covering import AtopssForest, PlainColumns
from plugins.atopss.relations.cuts import covers
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.shapes.shapes import interval, point
from plugins.atopss.subscriptions import Joined, Predicate, Subscription
from plugins.atopss.vectors import decode_subscription, encode_subscription
from plugins.language import SubscriptionKey
from tests.plugins.atopss.relations.test_relations import flat, narrowed
from tests.plugins.atopss.subscriptions import few, subscriptions

History = list[tuple[SubscriptionKey, Subscription | None]]


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Additions, replacements and removals; much of it is a narrower or equal form of what came before."""
    steps: History = []
    for _ in range(draw(st.integers(1, 14))):
        key = draw(st.integers(0, 5)), draw(st.integers(0, 1))
        before = [one for _, one in steps if one is not None]
        kinds = [flat(), subscriptions(events=2)]
        if before and (one := draw(st.sampled_from(before))).norm == 0 and not one.tokens:
            kinds += [narrowed(one), st.just(one)]
        steps.append((key, draw(st.one_of(st.none(), *kinds))))
    return steps


def check(forest: AtopssForest, held: dict[SubscriptionKey, Subscription]) -> None:
    """Hold a forest against the definition."""
    roots = set(forest.roots())
    below = {child: key for key in held for child in forest.children(key)}
    assert roots | set(below) == set(held)
    assert not roots & set(below)
    for child, key in below.items():
        assert covers(held[key], held[child])
        assert forest.parent(child) == key
    highest = {
        key
        for key, one in held.items()
        if all(covers(one, other) for other in held.values() if covers(other, one))
    }
    for key in highest:
        equals = {other for other in highest if covers(held[key], held[other])}
        assert len(equals & roots) == 1
    assert roots <= highest
    assert forest.statistics().subscriptions == len(held)


@few(60)
@given(histories())
def test_law_roots_are_what_nothing_else_covers(history: History) -> None:
    forest = AtopssRelations(None).forest()
    held: dict[SubscriptionKey, Subscription] = {}
    for key, wanted in history:
        if wanted is None:
            forest.remove(key)
            held.pop(key, None)
        else:
            forest.insert(key, encode_subscription(wanted))
            held[key] = wanted
        assert len(forest) == len(held)
    check(forest, held)


def drawn(chance: np.random.Generator, count: int, size: int) -> PlainColumns:
    """Return subscriptions on few attributes, close together."""
    attributes = np.sort(np.argsort(chance.random((count, 5)), axis=1)[:, :size], axis=1)
    corners = np.sort(chance.integers(0, 30, (count, size, 4)), axis=2)
    return PlainColumns(0, attributes, corners, chance.choice([0, 0, 8, 15, 30], (count, size, 2)))


@pytest.mark.slow
def test_columns_are_subscriptions_side_by_side() -> None:
    chance = np.random.default_rng(29)
    for size in (1, 2):
        columns = drawn(chance, 600, size)
        keys = [(number >> 8, number & 255) for number in range(600)]
        bulk, single = (AtopssForest(AtopssCodec(None)) for _ in range(2))
        bulk.insert_all(keys, columns)
        held = {}
        for row, key in enumerate(keys):
            one = columns.subscription(row)
            held[key] = decode_subscription(encode_subscription(canonical(0, _joined(one))))
            single.insert(key, encode_subscription(held[key]))
        assert bulk.roots() == single.roots()
        check(bulk, held)
        bulk.remove_all(keys[::2])
        for key in keys[::2]:
            single.remove(key)
            del held[key]
        assert bulk.roots() == single.roots()
        check(bulk, held)


def test_columns_meet_what_is_joined_otherwise() -> None:
    columns = PlainColumns(
        0, np.zeros((1, 1), np.int64), np.array([[[3, 4, 5, 6]]]), np.zeros((1, 1, 2), np.int64)
    )
    wide = canonical(0, Joined(True, (Predicate(0, interval(0, 9)), Predicate(1, point(3)))))
    forest = AtopssForest(AtopssCodec(None))
    forest.insert((1, 0), encode_subscription(wide))
    forest.insert_all([(2, 0)], columns)
    assert forest.parent((2, 0)) == (1, 0)
    forest.remove_all([(1, 0)])
    assert forest.roots() == [(2, 0)]


def _joined(one: Subscription) -> Joined:
    return Joined(False, one.predicates)
