"""Words as they are compared, languages, and slips of the finger."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.thesaurus.concept import Concept, Label, Target, fold, language_matches, target
from knowledge_manager.thesaurus.spelling import edit_distance, nearest_words
from knowledge_manager.thesaurus.thesaurus import Thesaurus


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("Air_Temperature-2m", "air  temperature 2M"),
        ("КРЪВНО налягане", "кръвно_налягане"),
        ("SpO₂", "spo2"),
        ("  heart\trate ", "heart rate"),
    ],
)
def test_written_differently_it_is_the_same_word(written: str, same: str) -> None:
    assert fold(written) == fold(same)


def test_accents_make_another_word() -> None:
    assert fold("høy") != fold("hoy")


@given(st.text())
def test_folding_twice_changes_nothing_for_look_ups(word: str) -> None:
    folded = fold(word)
    assert folded == " ".join(folded.split())
    assert fold(word.upper()) == fold(word.upper().lower()) or not word.isascii()


@pytest.mark.parametrize(
    ("tag", "wanted", "served"),
    [
        ("en-GB", "en", True),
        ("en", "en-GB", True),
        ("en-US", "en-GB", False),
        ("nb", "no-NO", True),
        ("nb", "no", True),
        ("nn-NO", "nb", True),
        ("bg", "no", False),
        ("", "bg", True),
        ("nl", "n", False),
    ],
)
def test_which_languages_serve(tag: str, wanted: str, served: bool) -> None:
    assert language_matches(tag, wanted) is served


WORDS = st.text("abcd", max_size=6)


def slips_by_definition(a: str, b: str) -> int:
    @cache
    def slips(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        found = [
            slips(i - 1, j) + 1,
            slips(i, j - 1) + 1,
            slips(i - 1, j - 1) + (a[i - 1] != b[j - 1]),
        ]
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            found.append(slips(i - 2, j - 2) + 1)
        return min(found)

    return slips(len(a), len(b))


@given(WORDS, WORDS, st.integers(1, 3))
def test_slips_are_counted_as_defined(a: str, b: str, limit: int) -> None:
    expected = slips_by_definition(a, b)
    counted = edit_distance(a, b, limit)
    assert counted == expected if expected <= limit else counted > limit


@given(WORDS, st.lists(WORDS, max_size=8))
def test_nearest_words_are_all_that_are_near(word: str, known: list[str]) -> None:
    limit = max(1, len(word) // 4)
    near = {other for other in known if slips_by_definition(word, other) <= limit}
    found = nearest_words(word, dict.fromkeys(known), most=100)
    if near:
        assert set(found) == near
        assert [slips_by_definition(word, other) for other in found] == sorted(
            slips_by_definition(word, other) for other in found
        )
    else:
        assert all(other.startswith(word) for other in found)


def test_hidden_labels_find_but_are_never_suggested() -> None:
    labels = (Label("temperature", "en", "preferred"), Label("temprature", "en", "hidden"))
    thesaurus = Thesaurus.of([Concept("u:t", "", labels, (), (Target("attribute", "e.t"),))])
    assert thesaurus.find("temprature")[0].label.kind == "hidden"
    assert thesaurus.nearest("tempratur") == ("temperature",)
    assert thesaurus.labels_of(Target("attribute", "e.t")) == (labels[0],)


def test_a_language_decides_only_where_it_has_the_word() -> None:
    def concept(name: str, language: str) -> Concept:
        return Concept(
            f"u:{name}", "", (Label("temp", language, "preferred"),), (), (Target("attribute", f"e.{name}"),)
        )

    thesaurus = Thesaurus.of([concept("a", "en"), concept("b", "nb")])
    assert [finding.target.name for finding in thesaurus.find("temp")] == ["e.a", "e.b"]
    assert [finding.target.name for finding in thesaurus.find("temp", "no")] == ["e.b"]
    assert [finding.target.name for finding in thesaurus.find("temp", "bg")] == ["e.a", "e.b"]


def test_targets_take_themselves_apart() -> None:
    value = target("value", "patient.ward=W 1=a")
    assert (value.event, value.attribute, value.value) == ("patient", "ward", "W 1=a")
    term = target("term", "very_high")
    assert (term.event, term.attribute, term.value) == ("", "", "")
    with pytest.raises(ValueError, match=r'write it like "patient\.heart_rate"'):
        target("attribute", "heart_rate")
