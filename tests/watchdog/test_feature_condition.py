"""Which notifications a reading releases under each feature condition, and whom they serve, by the paper.

The definition is over sets: a subscription asks for some attributes, a reading has some, and satisfies the
subscription or not. "The WD generates a notification with only these values for which there is an interest
in the SF", NF = SF, "and the filtering continues only with subscriptions that have different features than
the sent one" (§4.2, §4.3). `subset` is this project's: one notification serves every contained feature.
"""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.fuzzy.ground_truth import FuzzyGroundTruth
from plugins.fuzzy.matching.algorithms import ALGORITHMS as MATCHERS
from plugins.ground_truth import ReadingColumns
from tests.plugins.test_matching_choice import columns_of
from tests.sizes import examples
from watchdog.codes import ALGORITHMS
from watchdog.filter import FuzzyFilter
from watchdog.header import NO_HEADER
from watchdog.pool import Pool
from watchdog.reading import Reading, Release

MOST = {1: 7, 2: 15}
"""The attributes that a feature of this many bytes has beside the age."""


@dataclass(frozen=True)
class Wish:
    feature: frozenset[int]
    failing: frozenset[int] = frozenset()
    """The attributes whose value no reading has; with none of them the subscription is satisfied."""
    aged: bool = False
    event: int = 0

    def vector(self, size: int) -> bytes:
        body = b"".join(
            bytes([200, 255, 127]) if attribute in self.failing else bytes([0, 100, 60])
            for attribute in sorted(self.feature)
        )
        saf = sum(1 << attribute for attribute in self.feature)
        if self.aged:
            body += bytes([0, 255, 0])
            saf |= 1 << 8 * size - 1
        head = bytes(5) + bytes([3 << 4])
        return head + body + (1 << self.event).to_bytes(size, "big") + saf.to_bytes(size, "big")


def wanted(wishes: list[Wish], measured: frozenset[int]) -> set[frozenset[int]]:
    """The features of those that the reading has all attributes for, and that it satisfies."""
    return {one.feature for one in wishes if one.event == 0 and one.feature <= measured and not one.failing}


def released(wishes: list[Wish], measured: frozenset[int], condition: str) -> set[frozenset[int]]:
    """What goes out: under `exact` each of them once, under `subset` those that no other one contains."""
    found = wanted(wishes, measured)
    return {one for one in found if condition == "exact" or not any(one < other for other in found)}


def reading_of(measured: frozenset[int], size: int) -> Reading:
    reading = Reading(size)
    reading.clear(0, 3, 4)
    for attribute in measured:
        reading.set(attribute, 50 + attribute)
    return reading


def feature_of(release: Release, size: int) -> frozenset[int]:
    bits = int.from_bytes(release.vector[-size:], "big")
    return frozenset(index for index in range(8 * size) if bits >> index & 1)


@st.composite
def missions(draw: st.DrawFn) -> tuple[int, list[Wish], list[frozenset[int]]]:
    size = draw(st.sampled_from([1, 1, 2]))
    pool = draw(st.sets(st.integers(0, MOST[size] - 1), min_size=1, max_size=7))
    features = st.frozensets(st.sampled_from(sorted(pool)), min_size=1)
    wishes = []
    for feature in draw(st.lists(features, max_size=30)):
        failing = draw(
            st.sampled_from([frozenset[int](), frozenset[int](), feature, frozenset([min(feature)])])
        )
        wishes.append(Wish(feature, failing, draw(st.booleans()), draw(st.sampled_from([0, 0, 0, 1, 7]))))
    measured = st.frozensets(st.sampled_from(sorted(pool)))
    return size, wishes, draw(st.lists(measured, min_size=1, max_size=4))


@settings(max_examples=examples(200), deadline=None)
@given(missions(), st.sampled_from(["exact", "subset"]))
def test_sources_release_what_the_definition_releases(
    mission: tuple[int, list[Wish], list[frozenset[int]]], condition: str
) -> None:
    size, wishes, readings = mission
    for name, algorithm in ALGORITHMS.items():
        source = FuzzyFilter(size, condition, pool=Pool(size, 300, algorithm=algorithm))
        for number, one in enumerate(wishes):
            source.add((1, number), one.vector(size))
        for measured in readings:
            found = source.feed(reading_of(measured, size))
            features = [feature_of(release, size) for release in found]
            assert len(features) == len(set(features)), name
            assert set(features) == released(wishes, measured, condition), name
            for release, feature in zip(found, features, strict=True):
                assert list(release.vector[6 : 6 + len(feature)]) == [50 + one for one in sorted(feature)]


@settings(max_examples=examples(100), deadline=None)
@given(missions(), st.sampled_from(["exact", "subset"]))
def test_mediators_serve_each_satisfied_subscription_once_under_exact(
    mission: tuple[int, list[Wish], list[frozenset[int]]], condition: str
) -> None:
    size, wishes, readings = mission
    for name in ALGORITHMS:
        source = FuzzyFilter(size, condition, pool=Pool(size, 300, algorithm=ALGORITHMS[name]))
        mediator = MATCHERS[name](None, condition, size)
        for number, one in enumerate(wishes):
            source.add((1, number), one.vector(size))
            mediator.add((1, number), one.vector(size)[len(NO_HEADER) :])
        for measured in readings:
            served = [
                match.key[1]
                for release in source.feed(reading_of(measured, size))
                for match in mediator.match(release.vector, 0, 0)
            ]
            found = wanted(wishes, measured)
            due = {
                n
                for n, one in enumerate(wishes)
                if one.event == 0 and one.feature in found and not one.failing
            }
            assert set(served) == due, name
            if condition == "exact":
                assert len(served) == len(due), name


@settings(max_examples=examples(60), deadline=None)
@given(missions())
def test_ground_truth_is_every_satisfied_subscription_that_the_reading_contains(
    mission: tuple[int, list[Wish], list[frozenset[int]]],
) -> None:
    """It has no condition: what a condition loses has to be seen."""
    size, wishes, readings = mission
    if size != 1:
        return
    truth = FuzzyGroundTruth(None)
    for number, one in enumerate(wishes):
        truth.add(number, one.vector(size)[len(NO_HEADER) :])
    for measured in readings:
        columns: ReadingColumns = columns_of({one: 50 + one for one in measured})
        found = wanted(wishes, measured)
        due = {
            n for n, one in enumerate(wishes) if one.event == 0 and one.feature in found and not one.failing
        }
        assert set(truth.judge(columns)[1].tolist()) == due
