"""Laws of matching, run on every algorithm by the same tests: it finds what the definition finds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.matching.algorithms import ALGORITHMS
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.population import AggregatorNotServed
from plugins.fuzzy.matching.shared import SharedMatcher
from plugins.language import Match, Matcher
from tests.paths import ROOT
from tests.plugins.fuzzy.matching.populations import (
    ALL_AGGREGATORS,
    Step,
    any_subscriptions,
    histories,
    near_notifications,
)
from watchdog.aggregators import WEIGHTED_MEAN, WITH_PATTERN, has_block
from watchdog.header import body_of
from watchdog.vector import VectorError, constraints_offset


def as_it_is(vector: bytes, _: int) -> bytes:
    return vector


def with_crisp_slopes(vector: bytes, feature_bytes: int) -> bytes:
    """The reading that `crisp` has of a subscription: every slope code is 127."""
    changed = bytearray(vector)
    for at in range(constraints_offset(vector) + 2, len(vector) - 2 * feature_bytes, 3):
        changed[at] |= 127
    return bytes(changed)


@dataclass(frozen=True)
class Case:
    """An algorithm, the aggregators that it serves, and its reading of a subscription."""

    name: str
    aggregators: tuple[int, ...] = ALL_AGGREGATORS
    reading: Callable[[bytes, int], bytes] = as_it_is

    def make(self, condition: str, feature_bytes: int) -> Matcher:
        if self.name in MACHINES:
            return MACHINES[self.name](None, condition, feature_bytes)
        return ALGORITHMS[self.name](None, condition, feature_bytes)


MACHINES: dict[str, Callable[..., Matcher]] = {
    "fast in columns": partial(FastMatcher, columns_from=0),
    "fast compiled": partial(FastMatcher, columns_from=0, compile_from=0),
    "shared compiled": partial(SharedMatcher, compile_from=0),
}


def of_two(aggregator: int) -> bytes:
    """A subscription with two constraints and the shortest block that its aggregator may have."""
    block = b""
    if has_block(aggregator):
        block = b"\x02\x01\x01" if aggregator == WEIGHTED_MEAN else bytes([1, 128 * is_pattern(aggregator)])
    return bytes([0, 0, 0, 0, 0, aggregator]) + block + b"\x64\xc8\x7f\x64\xc8\x7f\x01\x03"


def is_pattern(aggregator: int) -> int:
    return WITH_PATTERN >> aggregator & 1


def served_by(name: str) -> tuple[int, ...]:
    """The aggregators that an algorithm takes."""

    def is_taken(aggregator: int) -> bool:
        try:
            ALGORITHMS[name](None, "subset", 1).add((1, 1), body_of(of_two(aggregator)))
        except AggregatorNotServed:
            return False
        return True

    return tuple(filter(is_taken, ALL_AGGREGATORS))


SERVED = {name: served_by(name) for name in ALGORITHMS}
CASES = [
    Case(name, SERVED.get(name, ALL_AGGREGATORS), with_crisp_slopes if name == "crisp" else as_it_is)
    for name in (*ALGORITHMS, *MACHINES)
]
every_algorithm = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
settled = settings(max_examples=20, deadline=None)


def grown(matcher: Matcher, steps: Iterable[Step]) -> Matcher:
    for verb, key, vector in steps:
        if verb == "add":
            matcher.add(key, body_of(vector))
        else:
            matcher.remove(key)
    return matcher


def by_definition(case: Case, condition: str, feature_bytes: int, steps: Iterable[Step]) -> Matcher:
    naive = ALGORITHMS["naive"](None, condition, feature_bytes)
    return grown(naive, [(verb, key, v and case.reading(v, feature_bytes)) for verb, key, v in steps])


ages = st.sampled_from([-5, 0, 1, 900, 30_000, 10**6, 10**9])
conditions = st.sampled_from(FEATURE_CONDITIONS)
widths = st.sampled_from([1, 1, 2, 8])


@every_algorithm
@settled
@given(st.data())
def test_it_finds_what_the_definition_finds(case: Case, data: st.DataObject) -> None:
    condition, width = data.draw(conditions), data.draw(widths)
    steps = data.draw(histories(case.aggregators, width))
    matcher = grown(case.make(condition, width), steps)
    naive = by_definition(case, condition, width, steps)
    for _ in range(3):
        notification, age_ms = data.draw(near_notifications(width)), data.draw(ages)
        expected = naive.match(notification, 50, 50 + age_ms)
        assert matcher.match(notification, 50, 50 + age_ms) == expected


@every_algorithm
@settled
@given(st.data())
def test_the_order_of_insertion_does_not_matter(case: Case, data: st.DataObject) -> None:
    condition = data.draw(conditions)
    vectors = data.draw(st.lists(any_subscriptions(case.aggregators), max_size=12))
    steps: list[Step] = [("add", (5, number), vector) for number, vector in enumerate(vectors)]
    one = grown(case.make(condition, 1), steps)
    other = grown(case.make(condition, 1), data.draw(st.permutations(steps)))
    notification = data.draw(near_notifications())
    assert one.match(notification, 0, 0) == other.match(notification, 0, 0)


@every_algorithm
@settled
@given(st.data())
def test_a_batch_is_its_notifications_one_by_one(case: Case, data: st.DataObject) -> None:
    matcher = grown(case.make(data.draw(conditions), 1), data.draw(histories(case.aggregators)))
    batch = data.draw(st.lists(st.tuples(near_notifications(), st.integers(0, 99_000)), max_size=6))
    found = dict(matcher.match_batch(batch, 99_000))
    assert found == {at: matcher.match(v, event_ms, 99_000) for at, (v, event_ms) in enumerate(batch)}


@every_algorithm
def test_a_bad_vector_is_refused_and_changes_nothing(case: Case) -> None:
    matcher = case.make("subset", 1)
    held = of_two(case.aggregators[0])
    matcher.add((1, 2), body_of(held))
    before = matcher.match(bytes(6) + b"\x96\x96\x01\x03", 0, 0)
    assert before == [Match((1, 2), 255)]
    with pytest.raises(VectorError):
        matcher.add((1, 2), body_of(held[:-1]))
    with pytest.raises(VectorError):
        matcher.match(b"\x00", 0, 0)
    matcher.remove((9, 9))
    assert matcher.match(bytes(6) + b"\x96\x96\x01\x03", 0, 0) == before


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_page_about_matching_has_its_line_and_what_it_serves(name: str) -> None:
    page = (ROOT / "docs" / "explanation" / "matching.md").read_text("utf-8")
    found = [
        line.split(" | ") for line in page.splitlines() if line.startswith("| `") and f"{name}.py" in line
    ]
    assert len(found) == 1
    names, files, served = (cell.strip("| ").split(", ") for cell in found[0][:3])
    place = names.index(f"`{name}`")
    assert ALGORITHMS[name](None, "subset", 1).__module__.endswith(files[place].removesuffix(".py"))
    if served[0] == "all":
        assert SERVED[name] == ALL_AGGREGATORS
    else:
        assert SERVED[name] == (int(served[place]),)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.aggregators != ALL_AGGREGATORS], ids=lambda case: case.name
)
def test_an_aggregator_that_it_does_not_serve_is_refused(case: Case) -> None:
    matcher = case.make("subset", 1)
    minimum = bytes(6) + b"\x64\xc8\x7f\x64\xc8\x7f\x01\x03"
    with pytest.raises(AggregatorNotServed, match="`fast`"):
        matcher.add((1, 2), body_of(minimum))
    assert matcher.match(bytes(6) + b"\x96\x96\x01\x03", 0, 0) == []


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "naive"])
def test_an_unknown_feature_condition_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="feature condition"):
        ALGORITHMS[name](None, "superset", 1)
