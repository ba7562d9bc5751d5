"""A source with only the uncovered subscriptions releases the same readings as with all of them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.fuzzy.relations.covering import CoveringForest
from plugins.language import SubscriptionKey
from tests.plugins.fuzzy.matching.populations import ALL_AGGREGATORS, near_subscriptions
from tests.sizes import examples
from tests.watchdog.strategies import readings
from watchdog.filter import FuzzyFilter
from watchdog.header import BODY_AT, body_of
from watchdog.reading import Reading

_DEGREE = 5
"""The byte of a notification that says how well whoever released it is satisfied; mediators work it out
again."""


def told(vectors: list[bytes], readings: list[Reading], features: str) -> list[list[bytes]]:
    """Return what a source with these subscriptions releases of each reading, without degrees."""
    source = FuzzyFilter(features=features)
    for number, vector in enumerate(vectors):
        source.add((number, 0), vector)
    return [
        [release.vector[:_DEGREE] + release.vector[_DEGREE + 1 :] for release in source.feed(reading)]
        for reading in readings
    ]


def index_of(vectors: list[bytes]) -> CoveringForest:
    index = CoveringForest("exact")
    for number, vector in enumerate(vectors):
        index.insert((number, 0), vector[BODY_AT:])
    return index


def uncovered(vectors: list[bytes], index: CoveringForest, gone: set[int]) -> list[bytes]:
    return [
        vector
        for number, vector in enumerate(vectors)
        if number not in gone and index.cover_of((number, 0)) is None
    ]


@settings(max_examples=examples(200))
@given(
    st.lists(near_subscriptions(ALL_AGGREGATORS), min_size=2, max_size=10),
    st.lists(readings(1, event=0), min_size=1, max_size=6),
    st.sets(st.integers(0, 9), max_size=4),
    st.sampled_from(("subset", "exact")),
)
def test_law_what_is_covered_changes_nothing_at_a_source(
    vectors: list[bytes], measured: list[Reading], withdrawn: set[int], features: str
) -> None:
    index = index_of(vectors)
    gone = {number for number in withdrawn if number < len(vectors)}
    for number in gone:
        index.remove((number, 0))
    left = [vector for number, vector in enumerate(vectors) if number not in gone]
    assert told(uncovered(vectors, index, gone), measured, features) == told(left, measured, features)


def test_more_attributes_are_not_covered_by_fewer() -> None:
    """At a mediator they are: there the notification has all of them."""
    one, both = (bytes.fromhex(text) for text in ("0000000000006ec8280101", "0000000000006ec8280064280103"))
    plain = CoveringForest()
    plain.insert((0, 0), body_of(one))
    plain.insert((1, 0), body_of(both))
    assert plain.cover_of((1, 0)) == (0, 0)
    index = index_of([one, both])
    keys: list[SubscriptionKey] = [(0, 0), (1, 0)]
    assert [index.cover_of(key) for key in keys] == [None, None]
