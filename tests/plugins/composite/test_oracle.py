"""The one algorithm against the definition: every assignment tried, in any order, repeated and split."""

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.composite.composer import CompositeComposer
from plugins.composite.composites import decode_composite
from plugins.composite.vectors import decode_body
from plugins.composite.watched import watched
from plugins.composite.whole import WholeStream
from plugins.fuzzy.language import FUZZY
from tests.plugins.composite import oracle
from tests.plugins.composite.oracle import Asked, Seen
from tests.plugins.composite.worlds import TABLE, asked, body_of, streams

LAWS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
Stream = list[tuple[Seen, bytes]]
Told = dict[tuple[int, int, int, int], int]


def name(seen: Seen) -> tuple[int, int, int, int]:
    return seen.source, seen.cls, seen.number, seen.second % 65536


def composed(body: bytes, readings: Stream, *, split: bool = False) -> Told:
    """Return the ends that a composer tells, with the degrees that it tells first."""
    composer = CompositeComposer(TABLE, FUZZY.matcher)
    composer.add((9, 1), body, 0, -(10**12), 10**12)
    found: Told = {}
    for place, (seen, vector) in enumerate(readings):
        item = seen.source << 32 | place
        for made in composer.feed(item, 1, vector, 1000 * seen.second + 300, 0):
            told = decode_composite(made.vector)
            end = told.source, told.event, told.number, told.stamp_s
            assert end not in found
            found[end] = 17 * told.degree
    return found


def whole(body: bytes, readings: Stream) -> list[tuple[tuple[int, int, int, int], int, dict[int, tuple]]]:
    stream = WholeStream(TABLE, FUZZY.matcher)
    one = watched((9, 1), 0, body, decode_body(body, 1, TABLE), 1)
    stream.watch(one)
    for seen, vector in readings:
        stream.take(seen.source, vector, 1000 * seen.second + 300)
    return [
        (
            (found.end.stream.source, found.end.event, found.end.number, found.end.stamp_s),
            found.degree,
            {
                leaf: (event.stream.source, event.event, event.number, event.stamp_s)
                for leaf, event in found.events
            },
        )
        for found, _ in stream.matches(one)
    ]


def agrees(wanted: Asked, readings: Stream, has_key: bool, seed: int) -> None:
    body, order = body_of(wanted, has_key=has_key)
    events = [seen for seen, _ in readings]
    definition = {name(end): degree for end, degree in oracle.ends(wanted, events).items()}
    shuffled = random.Random(seed).sample(readings, len(readings))
    found = whole(body, shuffled)
    assert {end: degree for end, degree, _ in found} == definition
    every = [{leaf: name(event) for leaf, event in match.items()} for match in oracle.matches(wanted, events)]
    for _, _, witness in found:
        assert {order[leaf]: event for leaf, event in witness.items()} in every
    for arrival in (readings, shuffled, [*shuffled, *readings]):
        told = composed(body, arrival)
        assert set(told) == set(definition)
        assert all(degree <= definition[end] for end, degree in told.items())


@LAWS
@given(asked(), streams(), st.booleans(), st.integers(0, 99))
def test_ends_are_those_of_the_definition(wanted: Asked, readings: Stream, has_key: bool, seed: int) -> None:
    agrees(wanted, readings, False, seed)


@LAWS
@given(asked(), streams(sources=2, has_key=True), st.integers(0, 99))
def test_ends_with_a_key_and_two_sources(wanted: Asked, readings: Stream, seed: int) -> None:
    agrees(wanted, readings, True, seed)


@LAWS
@given(asked(is_any=True), streams(sources=2), st.integers(0, 99))
def test_ends_over_sources(wanted: Asked, readings: Stream, seed: int) -> None:
    agrees(wanted, readings, False, seed)


@LAWS
@given(asked(most=3), streams(most=7))
def test_all_are_those_of_the_definition(wanted: Asked, readings: Stream) -> None:
    body, order = body_of(wanted, select="all")
    events = [seen for seen, _ in readings]
    every = [{leaf: name(event) for leaf, event in match.items()} for match in oracle.matches(wanted, events)]
    found = [
        {order[leaf]: event for leaf, event in witness.items()} for _, _, witness in whole(body, readings)
    ]
    assert sorted(map(_sorted, found)) == sorted(map(_sorted, every))


def _sorted(match: dict[int, tuple]) -> list:
    return sorted(match.items())


@LAWS
@given(asked(), streams(), st.integers(0, 99))
def test_first_consumes_what_it_tells(wanted: Asked, readings: Stream, seed: int) -> None:
    body, _ = body_of(wanted, select="first")
    events = [seen for seen, _ in readings]
    expected = {name(end): degree for end, degree in oracle.consumed(wanted, events).items()}
    shuffled = random.Random(seed).sample(readings, len(readings))
    assert {end: degree for end, degree, _ in whole(body, shuffled)} == expected
