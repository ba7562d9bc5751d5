"""Versions of a vocabulary: whatever changes what an index or a byte means is an error."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from knowledge_manager.vocabulary.diff import VocabularyDiff, diff_vocabularies
from knowledge_manager.vocabulary.event_class import Attribute, EventClass, Vocabulary
from knowledge_manager.vocabulary.terms import Shoulder
from knowledge_manager.vocabulary.vocabulary import load_vocabulary

OLD = load_vocabulary("medical")
Edit = Callable[[Attribute], Attribute]


def edited(name: str, edit: Edit) -> Vocabulary:
    (patient,) = OLD.events
    attributes = tuple(edit(a) if a.name == name else a for a in patient.attributes)
    return replace(OLD, version=2, events=(replace(patient, attributes=attributes),))


def weights(diff: VocabularyDiff) -> list[str]:
    return [change.weight for change in diff.changes]


def test_nothing_changed() -> None:
    assert diff_vocabularies(OLD, OLD).changes == ()
    assert diff_vocabularies(OLD, replace(OLD, version=2)).is_compatible


@pytest.mark.parametrize(
    ("name", "edit", "weight", "message"),
    [
        ("ward", lambda a: replace(a, index=9), "error", "the index was 2 and is 9"),
        ("ward", lambda a: replace(a, values=("ICU", "ER", "W1", "W2")), "error", "reordered"),
        ("ward", lambda a: replace(a, values=(*a.values, "W3")), "warning", "values were added: W3"),
        ("ward", lambda a: replace(a, values=a.values[:2]), "error", "removed"),
        (
            "heart_rate",
            lambda a: replace(a, hi_scaled=a.hi_scaled + 1),
            "error",
            "the domain was 20..250 bpm",
        ),
        ("heart_rate", lambda a: replace(a, unit="1/s"), "error", "bytes change meaning"),
        ("heart_rate", lambda a: replace(a, decimals=0), "error", "with 0 decimals"),
        ("heart_rate", lambda a: replace(a, type="date"), "error", "was a number and is a date"),
        (
            "heart_rate",
            lambda a: replace(a, terms={**a.terms, "x": Shoulder("left", 1, 2)}),
            "note",
            "is new",
        ),
        (
            "heart_rate",
            lambda a: replace(a, terms={**a.terms, "low": Shoulder("left", 1, 2)}),
            "note",
            "another curve",
        ),
        ("ward", lambda a: replace(a, name="room"), "error", 'takes index 2, which was "ward"'),
    ],
)
def test_changes_of_an_attribute(name: str, edit: Edit, weight: str, message: str) -> None:
    diff = diff_vocabularies(OLD, edited(name, edit))
    assert weight in weights(diff)
    assert any(message in change.message for change in diff.changes)
    assert diff.is_compatible is (weight != "error")


def test_a_lost_term_is_warned_of() -> None:
    diff = diff_vocabularies(OLD, edited("heart_rate", lambda a: replace(a, terms={})))
    assert weights(diff) == ["warning"] * 4


def test_events_move_come_and_go() -> None:
    (patient,) = OLD.events
    moved = diff_vocabularies(OLD, replace(OLD, version=2, events=(replace(patient, index=3),)))
    assert [str(change) for change in moved.changes] == [
        "error D225: patient: the index was 0 and is 3; an index never changes"
    ]
    other = EventClass("visitor", 4, patient.attributes)
    grown = diff_vocabularies(OLD, replace(OLD, version=2, events=(patient, other)))
    assert [str(change) for change in grown.changes] == ["note: visitor: is new, at index 4"]
    shrunk = diff_vocabularies(replace(OLD, events=(patient, other)), replace(OLD, version=2))
    assert weights(shrunk) == ["warning"]
    usurped = diff_vocabularies(OLD, replace(OLD, version=2, events=(replace(other, index=0),)))
    assert weights(usurped) == ["error", "warning"]


def test_a_change_needs_a_new_version() -> None:
    changed = replace(edited("ward", lambda a: replace(a, values=(*a.values, "W3"))), version=1)
    diff = diff_vocabularies(OLD, changed)
    assert not diff.is_compatible
    assert "raise it with every change" in diff.changes[0].message


def test_wider_features_change_every_vector() -> None:
    diff = diff_vocabularies(OLD, replace(OLD, version=2, feature_bytes=2))
    assert not diff.is_compatible


def test_it_is_reported_like_any_problem_and_as_json() -> None:
    diff = diff_vocabularies(OLD, edited("ward", lambda a: replace(a, index=9)))
    (problem,) = diff.problems("medical.toml")
    assert str(problem).startswith("medical.toml: error D225: patient.ward: the index was 2")
    document = diff.as_document()
    assert (document["old_version"], document["new_version"], document["compatible"]) == (1, 2, False)
    assert document["changes"][0]["path"] == "patient.ward"
