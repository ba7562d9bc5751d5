"""The plain forest, made of `covers` alone, against what a forest is, and beside the compiled one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.fuzzy.relations.covering import CoveringForest
from plugins.fuzzy.relations.relations import FuzzyRelations
from plugins.relations import ForestStatistics, PlainCovers, PlainForest
from tests.plugins.fuzzy.matching.populations import ALL_AGGREGATORS, near_subscriptions
from tests.plugins.toy_language import AlarmRelations
from watchdog.header import body_of
from watchdog.vector import VectorError

alarms = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 255)).map(bytes)


@given(st.lists(alarms, max_size=30))
def test_law_no_root_covers_a_root_and_every_child_is_covered(bodies: list[bytes]) -> None:
    covers = AlarmRelations().covers
    forest = PlainForest(covers)
    for number, body in enumerate(bodies):
        forest.insert((number, 0), body)
    roots = forest.roots()
    assert not any(
        covers(bodies[one], bodies[other]) for one, _ in roots for other, _ in roots if one != other
    )
    seen, level, deepest, trees = set(roots), list(roots), 0, dict.fromkeys(roots, 1)
    owner = {root: root for root in roots}
    while level:
        deepest += 1
        below = [(above, child) for above in level for child in forest.children(above)]
        for above, child in below:
            assert covers(bodies[above[0]], bodies[child[0]])
            assert child not in seen
            seen.add(child)
            owner[child] = owner[above]
            trees[owner[child]] += 1
        level = [child for _, child in below]
    assert len(seen) == len(bodies)
    assert forest.statistics() == ForestStatistics(
        len(bodies), len(roots), deepest, max(trees.values(), default=0)
    )


@given(st.lists(near_subscriptions(ALL_AGGREGATORS), max_size=8))
def test_the_roots_are_those_of_the_compiled_forest(vectors: list[bytes]) -> None:
    plain, compiled = PlainForest(FuzzyRelations().covers), CoveringForest()
    for number, vector in enumerate(vectors):
        plain.insert((number, 0), body_of(vector))
        compiled.insert((number, 0), body_of(vector))
    assert plain.roots() == compiled.roots()


def test_invalid_body_changes_nothing() -> None:
    forest = PlainForest(AlarmRelations().covers)
    with pytest.raises(VectorError):
        forest.insert((1, 0), b"")
    assert forest.statistics() == ForestStatistics(0, 0, 0, 0)
    assert forest.statistics().spared == 0.0


def stands_for(one: bytes, other: bytes) -> bool:
    return AlarmRelations().covers(one, other)


@given(st.lists(st.tuples(alarms, st.booleans()), max_size=30))
def test_law_of_plain_covers_who_is_above_stands_for_and_no_root_for_another(
    steps: list[tuple[bytes, bool]],
) -> None:
    index, held = PlainCovers(stands_for), dict[tuple[int, int], bytes]()
    for number, (body, goes) in enumerate(steps):
        index.insert((number, 0), body)
        held[number, 0] = body
        if goes:
            first = min(held)
            del held[first]
            index.remove(first)
            index.remove(first)  # which does not raise
    above = {key: index.cover_of(key) for key in held}
    assert all(stands_for(held[over], held[key]) for key, over in above.items() if over is not None)
    roots = [key for key, over in above.items() if over is None]
    assert not any(stands_for(held[a], held[b]) for a in roots for b in roots if a != b)
    for key in held:  # whoever climbs comes to a root
        steps_up, at = 0, above[key]
        while at is not None:
            steps_up, at = steps_up + 1, above[at]
            assert steps_up <= len(held)


def test_plain_covers_refuse_invalid_bodies() -> None:
    index = PlainCovers(stands_for)
    with pytest.raises(VectorError):
        index.insert((1, 0), b"")
    assert index.cover_of((1, 0)) is None
