"""Counting of models against the definition: every visit of every key is decided once its horizon is over."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.authoring.streams import StreamReading
from plugins.composite.authoring.learner import CompositeLearner
from plugins.composite.composites import CONFIRMED, PREDICTED, decode_composite
from plugins.composite.prediction.model import wait_class
from plugins.composite.source import CompositeSourceFilter
from plugins.fuzzy.language import FUZZY
from tests.plugins.composite.letter_streams import AUTHORING, TABLE, VALUES, document
from tests.sizes import examples
from watchdog.reading import Reading

EVERY_KEY = 'window="PT20S" key="address"'
STREAMS = st.lists(
    st.tuples(st.sampled_from("ddsslo"), st.integers(0, 3), st.sampled_from((0, 1, 1, 2, 9))), max_size=40
)


def readings_of(stream: Sequence[tuple[str, int, int]]) -> list[StreamReading]:
    """Return letters of addresses, each this many seconds after the one before."""
    found = []
    second = 0
    for number, (letter, address, later) in enumerate(stream):
        second += later
        values = {0: VALUES[letter], 1: address} if letter in VALUES else {1: address}
        found.append(StreamReading(1, 3, number, second, values))
    return found


def learner_of(pattern: str, attributes: str, within: str) -> CompositeLearner:
    predict = f'<predict probability="0.5" within="{within}"/>'
    assert AUTHORING.learner is not None
    made = AUTHORING.learner(document(pattern, attributes, predict), "a.xml", TABLE, None)
    assert isinstance(made, CompositeLearner)
    return made


def counts_by_definition(
    states: Sequence[Mapping[bytes, tuple[int, int, bool]]], seconds: Sequence[int], horizon: int, unit: str
) -> Counter[str]:
    """Return what the definition counts. `states` has for each reading the mask, the wait and the completion
    of each key.
    """
    found: Counter[str] = Counter()
    places = seconds if unit == "seconds" else range(len(states))
    for at, row in enumerate(states):
        for key, (mask, wait, _) in row.items():
            if not mask:
                continue
            later = [i for i in range(at + 1, len(states)) if states[i].get(key, (0, 0, False))[2]]
            in_time = bool(later) and places[later[0]] - places[at] <= horizon
            reach = places[-1] - places[at]
            is_decided = reach > horizon or (unit == "readings" and reach == horizon)
            if in_time or later or is_decided:
                found[f"visits {mask} {wait_class(wait)}"] += 1
                found[f"completions {mask} {wait_class(wait)}"] += in_time
            else:
                found["undecided"] += 1
    return found


@settings(max_examples=examples(150), deadline=None)
@given(
    STREAMS,
    st.sampled_from(("d, s", "d; s", "d; d, s", "d; (s and l)", "d or (s, l)")),
    st.sampled_from((EVERY_KEY, 'window="PT20S"', 'window="PT5S" key="address" quiet="code:16"')),
    st.sampled_from(("1", "3", "7", "PT4S", "PT15S")),
)
def test_counts_are_those_of_the_definition(
    stream: list[tuple[str, int, int]], pattern: str, attributes: str, within: str
) -> None:
    learner = learner_of(pattern, attributes, within)
    readings = readings_of(stream)
    walked = [
        {step.key: (step.mask, step.readings, step.completed is not None) for step in steps}
        for _, steps in learner.steps(readings)
    ]
    wanted = learner.model({}).written().decode()
    unit = "readings" if '"readings"' in wanted else "seconds"
    horizon = learner.summary({})["horizon"][unit]
    expected = counts_by_definition(walked, [one.second for one in readings], horizon, unit)
    assert +Counter(learner.count(readings)) == +expected


def one_in_ten() -> list[StreamReading]:
    """Return 200 addresses: each is denied once, and 20 of them come in at the very next reading."""
    stream = [
        (letter, address, 1) for address in range(200) for letter in ("d", "s" if address % 10 == 0 else "l")
    ]
    return readings_of(stream)


@pytest.mark.parametrize("within", ["5", "PT5S"])
def test_keys_that_never_return_count_as_failures(within: str) -> None:
    learner = learner_of("d, s", EVERY_KEY, within)
    summary = learner.summary(learner.count(one_in_ten()))
    visits = summary["visits"] + summary["undecided"]
    assert (visits, summary["completions"]) == (200, 20)
    assert summary["undecided"] <= 3
    assert summary["overall_rate"] == pytest.approx(0.1, abs=0.002)
    assert summary["highest_probability"] < 0.11


def test_a_source_that_counts_for_itself_is_not_certain_of_keys_that_never_return() -> None:
    predict = '<predict probability="0.5" within="5"/>'
    body = AUTHORING.compile(document("d, s", EVERY_KEY, predict), "a.xml", TABLE).body
    source = CompositeSourceFilter(TABLE, FUZZY.matcher)
    source.introduce(3)
    source.add((2, 1), body)
    reading = Reading(1)
    kinds: Counter[int] = Counter()
    for one in one_in_ten():
        reading.clear(one.event, one.number, one.second)
        for index, value in one.values.items():
            reading.set(index, value)
        kinds.update(decode_composite(release.vector).kind for release in source.feed(reading))
    assert kinds[PREDICTED] == kinds[CONFIRMED] == 0
