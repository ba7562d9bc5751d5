"""A source that sees every reading: matches as they are defined, predictions that end exactly once."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.composite.composites import CONFIRMED, LAPSED, MATCH, PREDICTED, WITHDRAWN, decode_composite
from plugins.composite.prediction.model import Counted
from plugins.composite.results import results_of
from plugins.composite.source import CompositeSourceFilter
from plugins.composite.vectors import DURATION, READINGS, Prediction
from plugins.fuzzy.language import FUZZY
from plugins.work import WorkExceeded
from tests.plugins.composite import oracle
from tests.plugins.composite.letter_states import counted_states, walk
from tests.plugins.composite.letter_streams import AUTHORING, VALUES, document
from tests.plugins.composite.letter_streams import TABLE as SESSIONS
from tests.plugins.composite.oracle import Asked
from tests.plugins.composite.test_oracle import LAWS, Stream, name
from tests.plugins.composite.worlds import TABLE, asked, body_of, streams
from watchdog.reading import Reading


def filled(vector: bytes, number: int, stamp_s: int) -> Reading:
    reading = Reading(1)
    reading.clear(0 if vector[-2] == 1 else 1, number, stamp_s)
    reading.set(0, vector[6])
    reading.set(1, vector[7])
    return reading


@LAWS
@given(asked(), streams(), st.booleans())
def test_source_releases_what_the_definition_requires(
    wanted: Asked, readings: Stream, is_first: bool
) -> None:
    body, _ = body_of(wanted, select="first" if is_first else "ends")
    source = CompositeSourceFilter(TABLE, FUZZY.matcher)
    source.introduce(1)
    source.announce(9, 1, 4)
    source.add((500, 7), body)
    found = {}
    by_class = {0: [], 1: []}
    for seen, vector in readings:
        by_class[seen.cls].append(seen)
        for release in source.feed(filled(vector, seen.number, seen.second)):
            told = decode_composite(release.vector)
            assert (told.subscriber, told.id, told.revision, told.source) == (9, 1, 4, 1)
            found[told.source, told.event, told.number, told.stamp_s] = 17 * told.degree
    events = [seen for seen, _ in readings]
    if len({(seen.second, seen.cls) for seen in events}) == len({seen.second for seen in events}):
        # Events of two classes in one second come in either order; a source reports what it knows by then.
        expected = (oracle.consumed if is_first else oracle.ends)(wanted, events)
        assert found == {name(end): 17 * (degree // 17) for end, degree in expected.items()}


def predicting(pattern: str, rest: str, model: Counted | None = None) -> tuple[CompositeSourceFilter, bytes]:
    made = AUTHORING.compile(document(pattern, 'window="PT10M"', rest), "a.xml", SESSIONS)
    source = CompositeSourceFilter(SESSIONS, FUZZY.matcher)
    source.introduce(3)
    source.add((2, 1), made.body)
    return source, made.body


def told_of(source: CompositeSourceFilter, letters: str) -> list:
    reading = Reading(1)
    found = []
    for number, letter in enumerate(letters):
        reading.clear(3, number, number)
        reading.set(1, 0)
        if letter in VALUES:
            reading.set(0, VALUES[letter])
        found += [(decode_composite(release.vector), release) for release in source.feed(reading)]
    return found


@pytest.mark.parametrize(
    "rest", ['<predict probability="0.4" within="3"/>', '<predict probability="0.3" within="PT4S"/>']
)
@pytest.mark.parametrize("seed", range(4))
def test_every_prediction_ends_once(rest: str, seed: int) -> None:
    rng = random.Random(seed)
    letters = "".join(rng.choices("dsol", (4, 3, 2, 1), k=900))
    source, _ = predicting("d; d, s", rest)
    ranks: dict[bytes, list[int]] = {}
    kinds = set()
    for told, release in told_of(source, letters):
        kinds.add(told.kind)
        for result in results_of(release.vector):
            ranks.setdefault(result.identity, []).append(result.rank)
    predictions = {identity: found for identity, found in ranks.items() if identity[:1] == b"P"}
    assert len(predictions) > 20
    still_open = [identity for identity, found in predictions.items() if found == [0]]
    assert len(still_open) <= 1
    assert all(found in ([0, 1], [0]) for found in predictions.values())
    assert {MATCH, PREDICTED, CONFIRMED} <= kinds
    assert kinds & {LAPSED, WITHDRAWN}


def test_a_prediction_says_when_it_was_opened_and_lives_as_long_as_its_horizon() -> None:
    source, _ = predicting("d; s", '<predict probability="0.5" within="4"/>')
    found = told_of(source, "dsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsdsds")
    opened = next((told, release) for told, release in found if told.kind == PREDICTED)
    assert opened[0].opening.is_live
    assert opened[1].lifetime == 48, "a minute, the least"
    confirmed = next(told for told, _ in found if told.kind == CONFIRMED)
    assert confirmed.opening.number == opened[0].opening.number
    assert confirmed.opening.left == 3


def test_counts_follow_a_chain_of_which_they_are_drawn() -> None:
    """On data drawn from a model each β lies within four standard errors of what is true."""
    rng = random.Random(8)
    letters = "".join(rng.choices("dso", (5, 3, 2), k=6000))
    counted = counted_states("d; d, s", letters, 3)
    true = {1: 0.3, 3: 0.555}
    for mask, expected in true.items():
        visits = sum(times for (state, _), times in counted.visits.items() if state == mask)
        completions = sum(times for (state, _), times in counted.completions.items() if state == mask)
        error = 4 * (expected * (1 - expected) / visits) ** 0.5
        assert abs(completions / visits - expected) < error * 2, "visits overlap, so they count for less"
        assert 0 <= counted.beta(mask, 0) <= 1


def test_what_is_undecided_is_left_out() -> None:
    counted = counted_states("d; s", "odooo", 9)
    assert (counted.visits, counted.undecided) == ({}, 4)


def test_quiet_rests_until_its_piece_of_time_is_over() -> None:
    states = walk("d; s", "dsdsds", 'window="PT10M" quiet="code:16"')  # four seconds
    assert [(mask, completed) for mask, completed, _ in states] == [
        (1, False),
        (0, True),
        (0, False),
        (0, False),
        (1, False),
        (0, True),
    ]


QUIETLY = 'window="PT20S" quiet="PT1M"'
COMES = '<predict probability="0.4" within="20"/>'


@pytest.mark.parametrize("attributes", ['window="PT20S"', QUIETLY, 'window="PT20S" select="first"'])
@pytest.mark.parametrize("pattern", ["d; d", "d; d; d", "d and s", "d; (d or s)"])
@pytest.mark.parametrize("seed", range(4))
def test_reading_that_ends_a_match_makes_no_prediction(attributes: str, pattern: str, seed: int) -> None:
    """A prediction is opened at a reading that is not complete: no match of any kind ends with it."""
    made = AUTHORING.compile(document(pattern, attributes, COMES), "a.xml", SESSIONS)
    source = CompositeSourceFilter(SESSIONS, FUZZY.matcher)
    source.introduce(3)
    source.add((2, 1), made.body)
    rng = random.Random(seed)
    letters = "".join(rng.choice("ddsooooooo") for _ in range(900))
    told = [one for one, _ in told_of(source, letters)]
    plain = document(pattern, attributes.replace(' quiet="PT1M"', ""))
    every = CompositeSourceFilter(SESSIONS, FUZZY.matcher)
    every.introduce(3)
    every.add((2, 1), AUTHORING.compile(plain, "a.xml", SESSIONS).body)
    ends = {one.number for one, _ in told_of(every, letters)}
    opened = {one.number for one in told if one.kind == PREDICTED}
    assert opened, "the law says nothing otherwise"
    assert not opened & ends


def test_horizons() -> None:
    assert Prediction(128, READINGS, 3).beta(1, 0) is None
    assert Prediction(128, DURATION, 3, ((1, bytes(range(8))),)).beta(1, 4) == 4


def test_work_of_a_source_is_counted_and_bounded() -> None:
    source, _ = predicting("d; d; d; s", '<predict probability="0.4" within="3"/>')
    told_of(source, "dddd")
    spent = source.work
    assert spent > 0
    source.work_limit = 3
    with pytest.raises(WorkExceeded):
        told_of(source, "ds")
    assert spent < source.work < spent + 100
    source.work_limit = None
    assert MATCH in {told.kind for told, _ in told_of(source, "ddds")}
