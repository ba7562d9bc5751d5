"""Covering against brute force: what it claims about pairs, and the forest after any history."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.fuzzy.relations.covering import CoveringForest
from plugins.fuzzy.relations.relations import FuzzyRelations
from plugins.kernels import cover
from tests.plugins.fuzzy.matching.populations import ALL_AGGREGATORS, histories, near_subscriptions
from tests.sizes import examples
from watchdog.header import BODY_AT, body_of
from watchdog.membership import SLOPES, degree
from watchdog.score import satisfies, vector_degree
from watchdog.vector import VectorError

SLOPE_NUMBERS = np.array(SLOPES, np.int64)


def matches(vector: bytes, row: bytes) -> bool:
    return satisfies(vector[5], vector_degree(vector, 1, row))


@st.composite
def triples(draw: st.DrawFn) -> tuple[int, int, int]:
    edge = st.one_of(st.integers(0, 255), st.sampled_from([0, 1, 254, 255]))
    v, V = sorted((draw(edge), draw(edge)))
    return v, V, draw(st.integers(0, 255))


@settings(max_examples=examples(400), deadline=None)
@given(triples(), triples(), st.integers(0, 3))
def test_constraints_cover_exactly_when_all_256_degrees_do(
    s: tuple[int, int, int], t: tuple[int, int, int], near: int
) -> None:
    if near:  # neighbours are where rounding decides
        t = (min(s[0] + near, s[1]), s[1], max(0, min(255, s[2] - near + 2)))
    content = np.array([*s, *t], np.int64)
    expected = all(degree(x, *s) >= degree(x, *t) for x in range(256))
    assert cover.triple_covers(content, 0, 3, SLOPE_NUMBERS) == expected


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_what_is_covered_never_matches_alone(data: st.DataObject) -> None:
    condition = data.draw(st.sampled_from(["subset", "exact"]))
    a = data.draw(near_subscriptions(ALL_AGGREGATORS))
    b = data.draw(st.one_of(near_subscriptions(ALL_AGGREGATORS), narrowed(a)))
    relations = FuzzyRelations(condition)
    bodies = body_of(a), body_of(b)
    covers, meets = relations.covers(*bodies), relations.intersects(*bodies)
    if covers:
        assert a[-2] == b[-2]
        assert a[-1] & ~b[-1] == 0
        assert condition == "subset" or (a[-1] ^ b[-1]) & 127 == 0
    values = st.one_of(st.integers(0, 255), st.sampled_from([0, 60, 100, 120, 200, 255]))
    for _ in range(25):
        row = bytes(data.draw(st.lists(values, min_size=8, max_size=8)))
        if covers:
            assert matches(a, row) or not matches(b, row)
        if not meets and a[-2] == b[-2] and (condition == "subset" or (a[-1] ^ b[-1]) & 127 == 0):
            assert not (matches(a, row) and matches(b, row))


@st.composite
def narrowed(draw: st.DrawFn, vector: bytes) -> bytes:
    """The same subscription, asking for a little more."""
    out = bytearray(vector)
    at = len(vector) - 2 - 3 * bin(vector[-1]).count("1")
    while at < len(vector) - 2:
        v, V, g = out[at : at + 3]
        if not g & 128:
            out[at] = draw(st.integers(v, V))
            out[at + 1] = draw(st.integers(out[at], V))
            out[at + 2] = draw(st.integers(g, 127))
        at += 3
    out[5] = draw(st.integers(vector[5] >> 4, 15)) << 4 | vector[5] & 15
    return bytes(out)


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_asking_for_more_is_covered_and_merging_covers_both(data: st.DataObject) -> None:
    vector = data.draw(near_subscriptions((0, 1, 2, 3, 4, 5, 6)))
    relations = FuzzyRelations()
    more, other = data.draw(narrowed(vector)), data.draw(narrowed(vector))
    assert relations.covers(body_of(vector), body_of(vector))
    assert relations.covers(body_of(vector), body_of(more))
    merged = relations.merge(body_of(more), body_of(other))
    assert merged is not None
    assert relations.covers(merged, body_of(more))
    assert relations.covers(merged, body_of(other))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_forest_is_what_brute_force_says(data: st.DataObject) -> None:
    condition = data.draw(st.sampled_from(["subset", "exact"]))
    forest, relations = CoveringForest(condition), FuzzyRelations(condition)
    held: dict[tuple[int, int], bytes] = {}
    for verb, key, vector in data.draw(histories(ALL_AGGREGATORS, longest=16)):
        if verb == "add":
            forest.insert(key, body_of(vector))
            held[key] = body_of(vector)
        else:
            forest.remove(key)
            held.pop(key, None)
    roots = forest.roots()
    assert len(forest) == len(held)
    for a in roots:
        assert not any(relations.covers(held[b], held[a]) for b in roots if a != b)
    for key, body in held.items():
        above = forest.cover_of(key)
        assert (above is None) == (key in roots)
        if above is not None:
            assert relations.covers(held[above], body)
            assert key in forest.children(above)
    statistics = forest.statistics()
    assert (statistics.subscriptions, statistics.roots) == (len(held), len(roots))
    assert statistics.spared == (1 - len(roots) / len(held) if held else 0)


def plain(count: int, chance: random.Random) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    rows = []
    for _ in range(count):
        v = chance.randint(0, 200)
        triple = bytes([v, v + chance.randint(0, 55), chance.randint(30, 60)])
        other = bytes([chance.randint(0, 40), chance.randint(180, 255), chance.randint(30, 60)])
        head = bytes([0, 0, 0, 0, 0, chance.randint(0, 4) << 4 | chance.choice([0, 0, 2, 3])])
        rows.append(head + triple + other + bytes([1, chance.choice([3, 5, 6, 129])]))
    return np.frombuffer(b"".join(rows), np.uint8).reshape(count, -1)


def test_in_bulk_and_compiled_it_is_the_same_forest() -> None:
    chance = random.Random(4)
    vectors = plain(1200, chance)
    keys = [(number >> 8, number & 255) for number in range(1200)]
    bulk, single = CoveringForest(), CoveringForest()
    bulk.insert_all(keys[:400], vectors[:400][:, BODY_AT:])
    bulk.insert_all(keys[400:], vectors[400:][:, BODY_AT:])
    for key, vector in zip(keys, vectors, strict=True):
        single.insert(key, body_of(vector.tobytes()))
    gone = chance.sample(keys, 700)
    bulk.remove_all(gone)
    for key in gone:
        single.remove(key)
    assert bulk.statistics() == single.statistics()
    assert bulk.roots() == single.roots()
    assert 0 < len(bulk.roots()) < 500
    assert all(bulk.cover_of(key) == single.cover_of(key) for key in keys if key not in set(gone))


def test_masks_that_come_and_go_do_not_fill_it() -> None:
    forest = CoveringForest("subset", 8)
    for mask in range(1, 400):
        features = (1).to_bytes(8, "big") + (mask << 20).to_bytes(8, "big")
        vector = bytes(6) + b"\x10\x20\x30" * bin(mask).count("1") + features
        forest.insert((0, 0), body_of(vector))
    assert forest.roots() == [(0, 0)]


def test_a_bad_vector_changes_nothing() -> None:
    forest = CoveringForest()
    forest.insert((1, 1), body_of(bytes.fromhex("00000000000064c8280101")))
    with pytest.raises(VectorError):
        forest.insert((1, 1), body_of(b"\x00"))
    assert forest.roots() == [(1, 1)]
