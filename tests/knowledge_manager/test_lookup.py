"""From anybody's word to the mission table, with the way there, and errors that list what was meant."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.lookup.lookup import (
    AmbiguousWord,
    UnitMismatch,
    UnknownWord,
    WordError,
    look_up,
    nearest_terms,
    resolve_attribute,
    resolve_event,
    resolve_term,
    resolve_value,
)
from knowledge_manager.lookup.thesaurus_files import load_thesaurus
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.thesaurus.concept import Concept, Label, Relation, Target
from knowledge_manager.thesaurus.thesaurus import Thesaurus

TABLE = load_mission_table(["medical", "weather", "fire"])
WORDS = load_thesaurus("rescue")
PATIENT, WEATHER, FIRE = TABLE.events


@pytest.mark.parametrize(
    ("word", "language", "event", "attribute", "unit", "closeness"),
    [
        ("heart_rate", None, PATIENT, "heart_rate", "bpm", 1000),
        ("Heart-Rate", None, PATIENT, "heart_rate", "bpm", 1000),
        ("temp", None, PATIENT, "patient_temperature", "degF", 1000),
        ("temp", "no", PATIENT, "patient_temperature", "degC", 800),
        ("temp", "no", WEATHER, "temperature", "degC", 800),
        ("Temperatur", "de", FIRE, "air_temperature", "degC", 800),
        ("air_temperature_2m", None, WEATHER, "temperature", "degC", 1000),
        ("pulse", "en", PATIENT, "heart_rate", "bpm", 900),
        ("puls", "no", PATIENT, "heart_rate", "bpm", 900),
        ("пулс", "bg", PATIENT, "heart_rate", "bpm", 900),
        ("oksygenmetning", "nb", PATIENT, "oxygen_saturation", "percent", 1000),
        ("сатурация", None, PATIENT, "oxygen_saturation", "percent", 1000),
        ("кръвно налягане", "bg", PATIENT, "systolic_pressure", "mmHg", 800),
        ("vindstyrke", None, WEATHER, "wind_speed", "m/s", 1000),
        ("wind mph", None, WEATHER, "wind_speed", "mph", 1000),
        ("kullos", "no", FIRE, "carbon_monoxide", "ppm", 1000),
        ("дим", "bg", FIRE, "smoke", "", 1000),
    ],
)
def test_everybody_keeps_their_own_words(
    word: str, language: str | None, event: object, attribute: str, unit: str, closeness: int
) -> None:
    assert event in TABLE.events
    resolved = resolve_attribute(word, event, TABLE, WORDS, language)  # type: ignore[arg-type]
    assert resolved.attribute.name == attribute
    assert resolved.unit == unit
    assert resolved.meaning.closeness == closeness
    assert resolved.meaning.feature == 1 << resolved.attribute.index


def test_amounts_are_shown_in_the_unit_of_the_table() -> None:
    fever = resolve_attribute("temp", PATIENT, TABLE, WORDS).meaning
    assert fever.in_table_unit(100.4) == 38.0
    gale = resolve_attribute("wind mph", WEATHER, TABLE, WORDS).meaning
    assert gale.in_table_unit(100.0) == pytest.approx(44.704)
    document = fever.as_document()
    assert (document["word_unit"], document["unit"]) == ("degF", "degC")
    assert document["domain_in_word_unit"] == [86.0, 113.0]


def test_an_ambiguous_word_lists_its_candidates() -> None:
    with pytest.raises(AmbiguousWord, match="write one of these names") as error:
        resolve_attribute("vind", WEATHER, TABLE, WORDS, "no")
    assert [candidate.target.name for candidate in error.value.candidates] == [
        "weather.wind_direction",
        "weather.wind_speed",
    ]


@pytest.mark.parametrize(
    ("word", "weaker", "elsewhere", "nearest"),
    [
        ("forehead temp", ["patient.patient_temperature"], [], []),
        ("feber", ["patient.patient_temperature"], [], []),
        ("kullos", [], ["fire.carbon_monoxide"], []),
        ("kropstemperatur", [], [], ["kroppstemperatur"]),
        ("hart_raet", [], [], ["heart_rate"]),
        ("quite another thing", [], [], []),
    ],
)
def test_an_unknown_word_says_what_comes_near(
    word: str, weaker: list[str], elsewhere: list[str], nearest: list[str]
) -> None:
    with pytest.raises(UnknownWord, match=f'"{word}" is unknown') as error:
        resolve_attribute(word, PATIENT, TABLE, WORDS)
    assert [meaning.target.name for meaning in error.value.weaker] == weaker
    assert [meaning.target.name for meaning in error.value.elsewhere] == elsewhere
    assert list(error.value.nearest) == nearest
    for name in (*weaker, *elsewhere, *nearest):
        assert name in str(error.value)


def test_events_terms_and_values_have_words_too() -> None:
    assert resolve_event("pasient", TABLE, WORDS).event is PATIENT
    assert resolve_event("пожар", TABLE, WORDS, "bg").event is FIRE
    heart_rate, triage = PATIENT.attribute("heart_rate"), PATIENT.attribute("triage")
    assert resolve_term("svært høy", PATIENT, heart_rate, TABLE, WORDS, "no").target.name == "very_high"
    assert resolve_term("висока", PATIENT, heart_rate, TABLE, WORDS).target.name == "high"
    assert resolve_value("rød", PATIENT, triage, TABLE, WORDS).target.value == "immediate"
    assert resolve_value("Immediate", PATIENT, triage, TABLE).target.value == "immediate"
    with pytest.raises(UnknownWord, match="elsewhere it is dangerous"):
        resolve_term("farlig", PATIENT, heart_rate, TABLE, WORDS)
    with pytest.raises(UnknownWord):
        resolve_value("rød", PATIENT, PATIENT.attribute("ward"), TABLE, WORDS)
    with pytest.raises(UnknownWord, match="event class"):
        resolve_event("kullos", TABLE, WORDS)


def test_a_name_of_the_table_cannot_be_overruled() -> None:
    usurper = Concept(
        "u:x",
        "",
        (Label("heart_rate", "en", "preferred"),),
        (),
        (Target("attribute", "patient.ward"),),
    )
    resolved = resolve_attribute("heart_rate", PATIENT, TABLE, Thesaurus.of([usurper]))
    assert resolved.attribute.name == "heart_rate"
    with pytest.raises(AmbiguousWord):
        resolve_attribute("Heart Rate", PATIENT, TABLE, Thesaurus.of([usurper]))


def test_entries_outside_the_table_have_no_meaning() -> None:
    medical = load_mission_table(["medical"])
    assert look_up("kullos", medical, WORDS).meanings == ()
    with pytest.raises(UnknownWord):
        resolve_attribute("kullos", medical.event("patient"), medical, WORDS)


def test_an_answer_says_how_it_got_there() -> None:
    answer = look_up("temp", TABLE, WORDS)
    assert [(m.target.name, m.closeness) for m in answer.meanings] == [
        ("patient.patient_temperature", 1000),
        ("fire.air_temperature", 800),
        ("weather.temperature", 800),
    ]
    first, second = answer.as_document()["meanings"][:2]
    assert first["how"] == 'preferred label "temp" (en-us), exact'
    assert first["path"] == [{"relation": "exact", "concept": "urn:dens:mission#patient.patient_temperature"}]
    assert [step["relation"] for step in second["path"]] == ["exact", "narrower"]
    assert (first["event_index"], first["attribute_index"], first["feature"]) == (0, 0, 1)
    assert json.loads(json.dumps(answer.as_document())) == answer.as_document()


def test_the_same_name_in_two_vocabularies_is_listed_twice() -> None:
    names = [meaning.target.name for meaning in look_up("air temperature", TABLE, WORDS).meanings]
    assert names == ["fire.air_temperature", "weather.temperature"]


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("temprature", "temperature"),
        ("oksygenmetnig", "oksygenmetning"),
        ("въглеродн оксид", "въглероден оксид"),
    ],
)
def test_nearest_terms(misspelt: str, meant: str) -> None:
    assert meant in nearest_terms(misspelt, TABLE, WORDS)


def test_without_a_thesaurus_names_still_work() -> None:
    assert look_up("Wind Speed", TABLE).meanings[0].target == Target("attribute", "weather.wind_speed")
    assert look_up("wind sped", TABLE).nearest == ("wind_speed",)


@given(st.text(max_size=20), st.sampled_from([None, "en", "no", "bg", "xx", ""]))
def test_any_word_is_answered(word: str, language: str | None) -> None:
    answer = look_up(word, TABLE, WORDS, language)
    assert answer.word == word
    assert all(meaning.closeness >= 450 for meaning in answer.meanings)
    for event in TABLE.events:
        try:
            resolved = resolve_attribute(word, event, TABLE, WORDS, language)
        except WordError as error:
            shown = str(error)
        else:
            shown = resolved.attribute.name
            assert resolved.attribute in event.attributes
        assert shown


def test_closeness_below_the_limit_is_not_taken() -> None:
    def chain(length: int) -> Thesaurus:
        concepts = [
            Concept(f"u:{i}", "", (Label(f"w{i}", "en", "preferred"),), ((Relation.NARROWER, f"u:{i + 1}"),))
            for i in range(length)
        ]
        end = Concept(f"u:{length}", "", (), (), (Target("attribute", "patient.heart_rate"),))
        return Thesaurus.of([*concepts, end])

    assert resolve_attribute("w0", PATIENT, TABLE, chain(2)).meaning.closeness == 640
    with pytest.raises(UnknownWord, match="not close enough"):
        resolve_attribute("w0", PATIENT, TABLE, chain(3))


@pytest.mark.parametrize(
    ("language", "unit"), [("nb-NO", "degC"), ("no-NO", "degC"), ("en-US", "degF"), ("nb", "degC")]
)
def test_a_region_falls_back_to_its_language(language: str, unit: str) -> None:
    assert resolve_attribute("temp", PATIENT, TABLE, WORDS, language).unit == unit


def test_british_words_are_not_american_ones() -> None:
    british = look_up("temp", TABLE, WORDS, "en-GB")
    assert all(meaning.unit != "degF" for meaning in look_up("temperature", TABLE, WORDS, "en-GB").meanings)
    assert british.meanings, "a word that only others have is still found"


def linked(*concepts: tuple[str, str, tuple[tuple[Relation, str], ...]]) -> Thesaurus:
    return Thesaurus.of(
        Concept(
            uri,
            "",
            (Label(uri, "en", "preferred"),),
            links,
            (Target("attribute", target),) if target else (),
            "kg" if uri == "slag" else "",
        )
        for uri, target, links in concepts
    )


def test_incompatible_unit_is_reported_and_never_ignored() -> None:
    words = linked(
        ("hr", "patient.heart_rate", ()),
        ("slag", "", ((Relation.EXACT, "hr"),)),
    )
    with pytest.raises(UnitMismatch, match=r'"kg".*of another dimension.*correct dens:unit of slag'):
        resolve_attribute("slag", PATIENT, TABLE, words)
    (meaning,) = look_up("slag", TABLE, words).as_document()["meanings"]
    assert meaning["word_unit"] == "kg"
    assert "dimension" in meaning["misfit"]


def test_a_wrong_link_elsewhere_does_not_make_a_word_ambiguous() -> None:
    words = linked(
        ("hr", "patient.heart_rate", ()),
        ("rr", "patient.respiration_rate", ()),
        ("both", "", ((Relation.EXACT, "hr"), (Relation.EXACT, "rr"))),
    )
    assert resolve_attribute("rr", PATIENT, TABLE, words).attribute.name == "respiration_rate"
    with pytest.raises(AmbiguousWord):
        resolve_attribute("both", PATIENT, TABLE, words)


def test_exact_name_gets_no_suggestion() -> None:
    weather = load_mission_table(["weather"])
    assert "hjertefrekvens" not in nearest_terms("hjertefrekvens", weather, WORDS)
