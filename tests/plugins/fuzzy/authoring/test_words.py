"""A subscription may name things in anybody's words; the vector carries the agreed indexes."""

import subprocess
import sys
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.config.problems import DocumentError, Problem
from knowledge_manager.lookup.thesaurus_files import load_thesaurus
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.thesaurus.concept import Concept, Label, Target
from knowledge_manager.thesaurus.skos import read_skos_file
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.authoring import CompileOptions
from plugins.board_vectors import decode_body
from plugins.fuzzy.authoring.compiler import CompiledFuzzy, compile_subscription
from tests.paths import ROOT
from tests.sizes import examples
from watchdog.header import body_of

TABLE = load_mission_table(["medical", "weather", "fire"])
RESCUE = load_thesaurus("rescue")
CONCEPTS = read_skos_file(ROOT / "knowledge_manager" / "thesauri" / "mission.ttl")
HIGH = "<approximate-predicate attribute='{}'><is>{}</is></approximate-predicate>"
EQUAL = "<crisp-predicate attribute='{}' operator='{}'>{}</crisp-predicate>"


def compiled(
    body: str, event: str = "patient", language: str = "", thesaurus: Thesaurus | None = None
) -> CompiledFuzzy:
    lang = f' xml:lang="{language}"' if language else ""
    source = f'<subscription xmlns="urn:dens:subscription:1" event="{event}"{lang}>{body}</subscription>'
    return compile_subscription(source.encode(), "words.xml", TABLE, CompileOptions(thesaurus=thesaurus))


def refusal(body: str, event: str = "patient", language: str = "") -> str:
    with pytest.raises(DocumentError) as raised:
        compiled(body, event, language)
    return str(raised.value)


@pytest.mark.parametrize(
    ("event", "language", "pulse", "high", "tag", "immediate"),
    [
        ("pasient", "no", "puls", "høy", "hastegrad", "rød"),
        ("PATIENT", "", "Heart Rate", "High", "triage", "Immediate"),
        ("victim", "en-US", "pulse", "high", "tag color", "immediate"),
        ("пациент", "bg", "пулс", "висока", "triage", "immediate"),
    ],
)
def test_every_tongue_gives_the_same_bytes(
    event: str, language: str, pulse: str, high: str, tag: str, immediate: str
) -> None:
    plain = compiled(HIGH.format("heart_rate", "high") + EQUAL.format("triage", "eq", "immediate"))
    spoken = compiled(HIGH.format(pulse, high) + EQUAL.format(tag, "eq", immediate), event, language)
    assert spoken.vector == plain.vector


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_every_label_that_stands_for_an_attribute_compiles_to_its_index(data: st.DataObject) -> None:
    event = data.draw(st.sampled_from(TABLE.events))
    attribute = data.draw(st.sampled_from([each for each in event.attributes if each.type == "number"]))
    words = [
        label
        for concept in CONCEPTS
        for label in concept.labels
        if any(target.name == f"{event.name}.{attribute.name}" for target in concept.targets)
    ]
    label = data.draw(st.sampled_from(words))
    universal = '<fuzzy-set term="t"><universal v="7" V="9" g="1"/></fuzzy-set><is>t</is>'
    word = label.text.replace("&", "&amp;").replace('"', "&quot;")
    body = f'<approximate-predicate attribute="{word}">{universal}</approximate-predicate>'
    found = decode_body(body_of(compiled(body, event.name, label.language).vector))
    assert found.constraints == ((7, 9, 1),)
    assert found.attributes == (attribute.index,)


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=100), st.sampled_from(["event", "attribute", "term", "value"]))
def test_any_word_at_all_is_understood_or_refused_in_words(word: str, place: str) -> None:
    words = dict.fromkeys(["event", "attribute", "term", "value"], "")
    words |= {"event": "patient", "attribute": "triage", "term": "high", "value": "minor", place: word}
    words = {key: escape(text, {'"': "&quot;", "'": "&apos;"}) for key, text in words.items()}
    body = EQUAL.format(words["attribute"], "in", f"<value>{words['value']}</value>")
    body += HIGH.format("heart_rate", words["term"])
    problems: tuple[Problem, ...] = ()
    understood = 0
    try:
        understood = len(compiled(body, words["event"]).words)
    except DocumentError as error:
        problems = error.problems
    assert understood == 5 or problems
    assert all(problem.line and problem.code.startswith("D") for problem in problems)


def test_the_owner_of_a_word_brings_the_unit() -> None:
    celsius = compiled(EQUAL.format("patient_temperature", "ge", "38.5"))
    assert compiled(EQUAL.format("temp", "ge", "101.3"), language="en-US").vector == celsius.vector
    explicit = "<crisp-predicate attribute='temp' operator='ge'><domain unit='degC'/>38.5</crisp-predicate>"
    assert compiled(explicit).vector == celsius.vector
    curve = "<fuzzy-set term='hot'><shoulder side='right' from='{}' to='{}'/></fuzzy-set><is>hot</is>"
    predicate = "<approximate-predicate attribute='{}'>{}</approximate-predicate>"
    fahrenheit = compiled(predicate.format("temp", curve.format("100.4", "102.2")))
    assert fahrenheit.vector == compiled(predicate.format("patient_temperature", curve.format(38, 39))).vector
    outside = refusal(EQUAL.format("temp", "ge", "38.5"), language="en-US")
    assert 'error D106: "38.5" (3.61111 degC) is outside the domain of patient_temperature' in outside


def test_bounds_without_a_unit_stand_in_the_owners_unit() -> None:
    body = (
        "<crisp-predicate attribute='temp' operator='ge'><domain min='{}' max='{}'/>101.3</crisp-predicate>"
    )
    assert compiled(body.format(86, 113)).warnings == ()
    assert [warning.code for warning in compiled(body.format(90, 113)).warnings] == ["D153"]


def test_how_each_word_was_understood() -> None:
    body = (
        "<approximate-predicate attribute='puls'><fuzzy-set term='vill'><hedge name='very'/>"
        "<term>høy</term></fuzzy-set><is>vill</is></approximate-predicate>"
    ) + EQUAL.format("hastegrad", "eq", "rød")
    words = compiled(body, "patient", "no").steps["words"]
    found = [(word["word"], word["kind"], word["name"], word["how"]) for word in words]
    assert found == [
        ("patient", "event", "patient", "name in the mission table"),
        ("puls", "attribute", "patient.heart_rate", 'preferred label "puls" (nb), close'),
        ("vill", "term", "vill", "defined in this subscription"),
        ("høy", "term", "high", 'preferred label "høy" (nb), exact'),
        ("hastegrad", "attribute", "patient.triage", 'preferred label "hastegrad" (nb), exact'),
        ("rød", "value", "patient.triage=immediate", 'preferred label "rød" (nb), exact'),
    ]
    assert [word["closeness"] for word in words if "closeness" in word] == [1, 0.9, 1, 1, 1]
    assert words[1]["column"] == words[0]["column"] + len('event="patient" xml:lang="no">') + len(
        "<approximate-predicate "
    )


def test_a_hedged_term_leans_on_anybodys_word() -> None:
    body = (
        "<approximate-predicate attribute='heart_rate'><fuzzy-set term='vh'><hedge name='very'/>"
        "<term>{}</term></fuzzy-set><is>vh</is></approximate-predicate>"
    )
    assert compiled(body.format("висока")).vector == compiled(body.format("high")).vector


def test_a_definition_in_the_predicate_comes_first() -> None:
    own = "<fuzzy-set term='høy'><universal v='1' V='2' g='3'/></fuzzy-set>"
    body = f"<approximate-predicate attribute='puls'>{own}<is>høy</is></approximate-predicate>"
    assert decode_body(body_of(compiled(body).vector)).constraints == ((1, 2, 3),)
    replaced = own.replace("høy", "high")
    body = f"<approximate-predicate attribute='puls'>{replaced}<is>høy</is></approximate-predicate>"
    assert decode_body(body_of(compiled(body).vector)).constraints == ((1, 2, 3),)


def test_functions_may_use_the_authors_words() -> None:
    spoken = HIGH.format("puls", "high") + HIGH.format("sats", "low")
    plain = HIGH.format("heart_rate", "high") + HIGH.format("oxygen_saturation", "low")
    function = (
        "<aggregating-function>takagi_sugeno_0</aggregating-function><function>sqrt({} * {})</function>"
    )
    wanted = compiled(plain + function.format("heart_rate", "oxygen_saturation")).vector
    assert compiled(spoken + function.format("puls", "oxygen_saturation")).vector == wanted


def test_another_thesaurus() -> None:
    with pytest.raises(DocumentError, match="D103"):
        compiled(HIGH.format("puls", "high"), thesaurus=Thesaurus.of([]))
    assert compiled(HIGH.format("puls", "high"), thesaurus=RESCUE).vector == (
        compiled(HIGH.format("heart_rate", "high")).vector
    )


@pytest.mark.parametrize(
    ("body", "event", "language", "message"),
    [
        (HIGH.format("forehead temp", "high"), "patient", "",
         "error D103: attribute \"forehead temp\" of patient is unknown (patient_temperature, heart_rate, "
         "ward, oxygen_saturation, respiration_rate, systolic_pressure, triage); not close enough: "
         'patient.patient_temperature (preferred label "forehead temp" (en-us), broader)'),
        (HIGH.format("kullos", "high"), "patient", "",
         'elsewhere it is fire.carbon_monoxide (alternative label "kullos" (nb), exact)'),
        (HIGH.format("hjertefrekvns", "high"), "patient", "no", '; did you mean "hjertefrekvens"?'),
        (HIGH.format("heart_rate", "farlig"), "patient", "no",
         'error D102: term "farlig" is unknown for heart_rate (low, normal, high, very_high)'),
        (EQUAL.format("triage", "eq", "ICU"), "patient", "",
         "elsewhere it is patient.ward=ICU (name in the mission table)"),
        (HIGH.format("puls", "high"), "pasientt", "",
         'error D101: event class "pasientt" is unknown (patient, weather, fire); did you mean "patient"?'),
        (HIGH.format("vind", "high"), "weather", "no",
         'error D128: attribute of weather "vind" may mean weather.wind_direction '
         '(preferred label "vind" (nb), exact, narrower), weather.wind_speed '
         '(preferred label "vind" (nb), exact, narrower); write one of these names'),
        (HIGH.format("puls", "high") + HIGH.format("heart_rate", "low"), "patient", "",
         "error D104: heart_rate has a predicate already"),
        (HIGH.format("puls", "high"), "patient", "no way",
         'error D113: attribute "xml:lang": "no way" is not a language tag such as en, no or bg'),
    ],
)  # fmt: skip
def test_what_is_refused(body: str, event: str, language: str, message: str) -> None:
    assert message in refusal(body, event, language)


def test_a_word_beyond_all_measure_is_not_repeated() -> None:
    message = refusal(EQUAL.format("triage", "eq", "x" * 60_000))
    assert 'error D114: "xxxxx' in message
    assert len(message) < 200


def test_no_other_attribute_of_xml_is_taken() -> None:
    source = '<subscription xmlns="urn:dens:subscription:1" event="patient" xml:long="no">{}</subscription>'
    with pytest.raises(DocumentError, match=r'D111: .* no attribute "xml:long"; did you mean "xml:lang"\?'):
        compile_subscription(source.format(HIGH.format("heart_rate", "high")).encode(), "x.xml", TABLE)


def test_the_candidates_of_an_ambiguous_word_can_be_written() -> None:
    names = compiled(HIGH.format("weather.wind_speed", "storm"), "weather")
    assert names.vector == compiled(HIGH.format("wind_speed", "storm"), "weather").vector


def test_plain_subscriptions_load_no_thesaurus() -> None:
    probe = (
        "from knowledge_manager.mission_table import load_mission_table\n"
        "from plugins.fuzzy.authoring.compiler import compile_subscription\n"
        "import plugins.authoring.xml.words as words\n"
        "table = load_mission_table(['medical'])\n"
        "text = open('docs/examples/patient.xml', 'rb').read()\n"
        "compile_subscription(text, 'patient.xml', table)\n"
        "print(words._shipped.cache_info().misses)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout == "0\n"


def test_a_word_that_counts_in_another_kind_of_unit_is_an_error() -> None:
    beat = Concept(
        "u:slag",
        "",
        (Label("slag", "nb", "preferred"),),
        (),
        (Target("attribute", "patient.heart_rate"),),
        "kg",
    )
    with pytest.raises(DocumentError) as raised:
        compiled(HIGH.format("slag", "high"), thesaurus=Thesaurus.of([beat]))
    (problem,) = raised.value.problems
    assert problem.code == "D107"
    assert "correct dens:unit of u:slag" in problem.message


def test_unknown_language_tag_is_warned_of() -> None:
    (warning,) = compiled(HIGH.format("puls", "high"), language="sv").warnings
    assert warning.code == "D159"
    assert 'no word in "sv"; words of bg, de, en' in warning.message
    assert compiled(HIGH.format("heart_rate", "high"), language="sv").warnings == ()
    assert compiled(HIGH.format("puls", "high"), language="nb-NO").warnings == ()
