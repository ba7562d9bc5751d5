"""The one algorithm against the definition: every assignment tried, in any order, repeated and split."""

import random
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.composite.composer import CompositeComposer
from plugins.composite.composites import decode_composite
from plugins.composite.search.watched import watched
from plugins.composite.search.whole import WholeStream
from plugins.composite.vectors import decode_body
from plugins.fuzzy.language import FUZZY
from tests.plugins.composite import oracle
from tests.plugins.composite.oracle import Asked, Seen
from tests.plugins.composite.worlds import CLASSES, TABLE, asked, body_of, streams
from tests.sizes import examples
from watchdog.lifetime import lifetime_s

LAWS = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
Stream = list[tuple[Seen, bytes]]
Told = dict[tuple[int, int, int, int], int]


def name(seen: Seen) -> tuple[int, int, int, int]:
    return seen.source, seen.cls, seen.number, seen.second % 65536


def composed(body: bytes, readings: Stream, *, split: bool = False) -> Told:
    """Return the ends that a composer reports, with the degrees of the first report."""
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


def assert_agrees_with_oracle(wanted: Asked, readings: Stream, has_key: bool, seed: int) -> None:
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
    assert_agrees_with_oracle(wanted, readings, False, seed)


@LAWS
@given(asked(), streams(sources=2, has_key=True), st.integers(0, 99))
def test_ends_with_a_key_and_two_sources(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_agrees_with_oracle(wanted, readings, True, seed)


@LAWS
@given(asked(is_any=True), streams(sources=2), st.integers(0, 99))
def test_ends_over_sources(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_agrees_with_oracle(wanted, readings, False, seed)


def assert_quiet_agrees_with_oracle(
    wanted: Asked, readings: Stream, has_key: bool, quiet_q: int, seed: int
) -> None:
    """Check that one composite comes for each key and piece of time, whatever class its last event has."""
    body, _ = body_of(wanted, has_key=has_key, quiet_q=quiet_q)
    shuffled = random.Random(seed).sample(readings, len(readings))
    keys = {name(seen): seen.key for seen, _ in readings}
    quiet_s = lifetime_s(quiet_q)
    expected = sorted(oracle.buckets(wanted, [seen for seen, _ in readings], quiet_s))
    every = [[end for end, _, _ in whole(body, shuffled)]]
    every += [list(composed(body, arrival)) for arrival in (readings, shuffled, [*shuffled, *readings])]
    for ends in every:
        assert sorted((end[0], keys[end], end[3] // quiet_s) for end in ends) == expected


@LAWS
@given(asked(), streams(sources=2, has_key=True), st.sampled_from((9, 16, 30)), st.integers(0, 99))
def test_quiet_lets_one_pass_for_each_key_and_piece_of_time(
    wanted: Asked, readings: Stream, quiet_q: int, seed: int
) -> None:
    assert_quiet_agrees_with_oracle(wanted, readings, True, quiet_q, seed)


def assert_every_match_is_found(wanted: Asked, readings: Stream, has_key: bool, seed: int) -> None:
    """Check that `all` finds every match, in a whole stream and at a composer in any order of arrival."""
    body, order = body_of(wanted, has_key=has_key, select="all")
    events = [seen for seen, _ in readings]
    expected = sorted(
        _sorted({leaf: name(event)[:3] for leaf, event in match.items()})
        for match in oracle.matches(wanted, events)
    )
    shuffled = random.Random(seed).sample(readings, len(readings))
    found = [
        _sorted({order[leaf]: event[:3] for leaf, event in witness.items()})
        for _, _, witness in whole(body, shuffled)
    ]
    assert sorted(found) == expected
    for arrival in (readings, shuffled):
        composer = CompositeComposer(TABLE, FUZZY.matcher)
        composer.add((9, 1), body, 0, -(10**12), 10**12)
        found = []
        for place, (seen, vector) in enumerate(arrival):
            item = seen.source << 32 | place
            for made in composer.feed(item, 1, vector, 1000 * seen.second + 300, 0):
                told = decode_composite(made.vector)
                found.append(
                    sorted(
                        (
                            order[one.leaf],
                            (one.source or told.source, _class(wanted, order[one.leaf]), one.number),
                        )
                        for one in told.witness
                    )
                )
        assert sorted(found) == expected


def _class(wanted: Asked, leaf: int) -> int:
    return CLASSES[oracle.leaves(wanted.pattern)[leaf]]


@LAWS
@given(asked(most=3), streams(most=7, sources=2, has_key=True), st.integers(0, 99))
def test_all_with_a_key_and_two_sources(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_every_match_is_found(wanted, readings, True, seed)


@LAWS
@given(asked(most=3, is_any=True), streams(most=7, sources=2), st.integers(0, 99))
def test_all_over_sources(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_every_match_is_found(wanted, readings, False, seed)


def assert_consumed_in_turn(wanted: Asked, readings: Stream, has_key: bool, seed: int) -> None:
    """Check that `first` finds matches that lie wholly one after the other, for each source and key."""
    body, _ = body_of(wanted, has_key=has_key, select="first")
    apart: dict[tuple[int, tuple[int, ...]], list[Seen]] = {}
    for seen, _ in readings:
        apart.setdefault((seen.source, seen.key), []).append(seen)
    expected = {
        name(end): degree
        for events in apart.values()
        for end, degree in oracle.consumed(wanted, events).items()
    }
    shuffled = random.Random(seed).sample(readings, len(readings))
    assert {end: degree for end, degree, _ in whole(body, shuffled)} == expected


@LAWS
@given(asked(), streams(sources=2, has_key=True), st.integers(0, 99))
def test_first_with_a_key_and_two_sources(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_consumed_in_turn(wanted, readings, True, seed)


@LAWS
@given(asked(is_any=True), streams(sources=2), st.lists(st.integers(0, 4000), min_size=8), st.integers(0, 99))
def test_a_clock_that_turns_out_less_late_makes_what_was_missing(
    wanted: Asked, readings: Stream, late: list[int], seed: int
) -> None:
    """Whatever is a match by what is known in the end, a composer has made, in any order of arrival."""
    body, _ = body_of(wanted)
    delayed = [(seen, vector, 1000 * seen.second + late[at]) for at, (seen, vector) in enumerate(readings)]
    least = {
        source: min(ms - 1000 * seen.second for seen, _, ms in delayed if seen.source == source) // 1000
        for source in {seen.source for seen, _ in readings}
    }
    events = [replace(seen, second=seen.second + least[seen.source]) for seen, _ in readings]
    expected = {
        (end.source, end.cls, end.number, (end.second - least[end.source]) % 65536)
        for end in oracle.ends(wanted, events)
    }
    composer = CompositeComposer(TABLE, FUZZY.matcher)
    composer.add((9, 1), body, 0, -(10**12), 10**12)
    found = set()
    arrival = list(enumerate(delayed))
    random.Random(seed).shuffle(arrival)
    for place, (seen, vector, event_ms) in arrival:
        for made in composer.feed(seen.source << 32 | place, 1, vector, event_ms, 0):
            told = decode_composite(made.vector)
            found.add((told.source, told.event, told.number, told.stamp_s))
    assert expected <= found


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
def test_first_consumes_the_reported_events(wanted: Asked, readings: Stream, seed: int) -> None:
    body, _ = body_of(wanted, select="first")
    events = [seen for seen, _ in readings]
    expected = {name(end): degree for end, degree in oracle.consumed(wanted, events).items()}
    shuffled = random.Random(seed).sample(readings, len(readings))
    assert {end: degree for end, degree, _ in whole(body, shuffled)} == expected
