"""A name concerns the languages that have it; sources and mediators of one condition agree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.direct.language import DIRECT
from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.filter import FuzzySourceFilter
from plugins.fuzzy.ground_truth import FuzzyGroundTruth
from plugins.fuzzy.language import FUZZY
from plugins.fuzzy.matching.algorithms import ALGORITHMS
from plugins.fuzzy.matching.naive import NaiveMatcher
from plugins.ground_truth import ReadingColumns
from plugins.guard.guarded import guarded
from plugins.language import LanguageDefect, SubscriptionLanguage
from plugins.matching_choice import ChoiceFault, MatchingChoice, choice_faults, matcher_named
from tests.plugins.fuzzy.matching.populations import ALL_AGGREGATORS, near_subscriptions
from tests.plugins.fuzzy.matching.test_laws import SERVED
from tests.sizes import examples
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading

TABLE = load_mission_table(["medical"])
KNOWN = {0: DIRECT, 1: FUZZY}


def matcher_class(language: SubscriptionLanguage) -> str:
    return type(language.matcher(TABLE).match.__self__).__name__  # type: ignore[attr-defined]


def test_nothing_chosen_is_every_language_as_it_is() -> None:
    assert MatchingChoice().applied(KNOWN) == KNOWN


def test_a_matcher_concerns_the_languages_that_have_it() -> None:
    found = MatchingChoice(matcher="FNIFC").applied(KNOWN)
    assert found[0] is DIRECT
    assert matcher_class(found[1]) == "CoveringMatcher"
    assert matcher_class(FUZZY) == "FastMatcher"


def test_a_language_that_listens_to_others_is_heard_by_the_chosen_one() -> None:
    listening = replace(FUZZY, listens_to={1: FUZZY.matcher, 0: DIRECT.matcher})
    found = MatchingChoice(matcher="fip").applied({1: listening})[1].matchers
    assert found[1] is FUZZY.algorithms["fip"]
    assert found[0] is DIRECT.matcher


def test_unknown_names_are_reported_with_the_known_ones() -> None:
    [matcher, condition] = choice_faults("fnic", "exakt", KNOWN.values())
    assert isinstance(matcher, ChoiceFault)
    assert (matcher.key, matcher.code) == ("matcher", "D390")
    assert all(name in matcher.message for name in ALGORITHMS)
    assert "fnifc" in matcher.meant or "fnif" in matcher.meant
    assert (condition.key, condition.code, list(condition.meant)) == ("condition", "D391", ["exact"])
    with pytest.raises(UnknownName, match="subset"):
        MatchingChoice(condition="superset").applied(KNOWN)
    with pytest.raises(UnknownName, match="fnifs"):
        matcher_named("fnifx", [FUZZY])


def test_the_partial_algorithms_are_those_that_refuse_some_aggregator() -> None:
    refusing = {name for name in ALGORITHMS if SERVED[name] != ALL_AGGREGATORS}
    assert FUZZY.partial_algorithms == refusing


def test_a_condition_of_another_package_stays_behind_its_guard() -> None:
    good = guarded(replace(FUZZY, language_id=20, conditions={"own": lambda: replace(FUZZY, language_id=20)}))
    assert MatchingChoice(condition="own").applied({20: good})[20].language_id == 20
    bad = guarded(replace(FUZZY, language_id=20, conditions={"own": lambda: DIRECT}))
    with pytest.raises(LanguageDefect, match="conditions"):
        MatchingChoice(condition="own").applied({20: bad})


def reading_of(values: dict[int, int]) -> Reading:
    reading = Reading(1)
    reading.clear(0, 0, 0)
    for attribute, value in values.items():
        reading.set(attribute, value)
    return reading


@settings(max_examples=examples(150), deadline=None)
@given(
    st.sampled_from(FEATURE_CONDITIONS),
    st.lists(near_subscriptions(ALL_AGGREGATORS), min_size=1, max_size=8),
    st.dictionaries(st.integers(0, 3), st.integers(0, 255), min_size=1),
)
def test_whatever_the_whole_reading_has_for_someone_reaches_them_under_both_conditions(
    condition: str, vectors: list[bytes], values: dict[int, int]
) -> None:
    """Source and mediator of one condition lose nothing of what ground truth finds, but for subscriptions to
    the age alone, whose feature no notification can have.
    """
    source, mediator = FuzzyFilter(1, condition), NaiveMatcher(None, condition)
    truth = FuzzyGroundTruth(None)
    for number, vector in enumerate(vectors):
        source.add((0, number), vector)
        mediator.add((0, number), vector[3:])
        truth.add(number, vector[3:])
    wanted = set(truth.judge(columns_of(values))[1].tolist())
    if condition == "exact":
        wanted = {number for number in wanted if vectors[number][-1] & 127}
    released = source.feed(reading_of(values))
    heard = [match.key[1] for one in released for match in mediator.match(one.vector, 0, 0)]
    assert set(heard) == wanted
    assert condition == "subset" or len(heard) == len(wanted)


def test_under_exact_a_host_tailors_and_is_judged_by_all_that_it_measured() -> None:
    exact = MatchingChoice(condition="exact").applied(KNOWN)[1]
    two = bytes.fromhex("00000064c87f64c87f0103")
    part = {0: 150, 1: 150}
    whole = {**part, 3: 150}
    for make in (exact.source_filter, exact.source_filters["fnif"]):
        source = make(TABLE)
        assert isinstance(source, FuzzySourceFilter)
        source.add((1, 1), two)
        for values in (part, whole):
            assert [release.vector[-1] for release in source.feed(reading_of(values))] == [3]
    for language in (exact, FUZZY):
        truth = language.ground_truth(TABLE)
        truth.add(1, two)
        assert [len(truth.judge(columns_of(values))[1]) for values in (part, whole)] == [1, 1]


def columns_of(values: dict[int, int]) -> ReadingColumns:

    row = np.array([[values.get(index, 0) for index in range(8)]], np.uint8)
    feature = np.array([sum(1 << index for index in values)], np.int64)
    return ReadingColumns(np.zeros(1, np.int64), np.zeros(1, np.uint8), feature, row, [None])
