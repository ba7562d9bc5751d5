"""SKOS in three notations, and everything that is refused about it."""

from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.lookup.thesaurus_check import check_thesaurus_file, compile_thesaurus_files
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.thesaurus.concept import Concept, Label, Relation, Target
from knowledge_manager.thesaurus.skos import dangling_links, read_skos, read_skos_file, read_skos_files

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dens: <urn:dens:thesaurus:1#> .
<urn:x#temp> a skos:Concept ; skos:inScheme <urn:x> ;
  skos:prefLabel "temp"@en, "temperatur"@nb ; skos:altLabel "t" ; skos:hiddenLabel "tmp"@en ;
  skos:exactMatch <urn:x#body> ; skos:broadMatch <urn:x#any> ; skos:related <urn:x#fever> ;
  skos:notation "patient.patient_temperature"^^dens:attribute, "T-1" ; dens:unit "degF" .
"""
JSON_LD = """{"@context": {"skos": "http://www.w3.org/2004/02/skos/core#", "dens": "urn:dens:thesaurus:1#"},
 "@id": "urn:x#temp", "@type": "skos:Concept", "skos:inScheme": {"@id": "urn:x"},
 "skos:prefLabel": [{"@value": "temp", "@language": "en"}, {"@value": "temperatur", "@language": "nb"}],
 "skos:altLabel": "t", "skos:hiddenLabel": {"@value": "tmp", "@language": "en"},
 "skos:exactMatch": {"@id": "urn:x#body"}, "skos:broadMatch": {"@id": "urn:x#any"},
 "skos:related": {"@id": "urn:x#fever"},
 "skos:notation": [{"@value": "patient.patient_temperature", "@type": "dens:attribute"}, "T-1"],
 "dens:unit": "degF"}
"""
RDF_XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:skos="http://www.w3.org/2004/02/skos/core#" xmlns:dens="urn:dens:thesaurus:1#">
<skos:Concept rdf:about="urn:x#temp"><skos:inScheme rdf:resource="urn:x"/>
  <skos:prefLabel xml:lang="en">temp</skos:prefLabel><skos:prefLabel xml:lang="nb">temperatur</skos:prefLabel>
  <skos:altLabel>t</skos:altLabel><skos:hiddenLabel xml:lang="en">tmp</skos:hiddenLabel>
  <skos:exactMatch rdf:resource="urn:x#body"/><skos:broadMatch rdf:resource="urn:x#any"/>
  <skos:related rdf:resource="urn:x#fever"/>
  <skos:notation rdf:datatype="urn:dens:thesaurus:1#attribute">patient.patient_temperature</skos:notation>
  <skos:notation>T-1</skos:notation><dens:unit>degF</dens:unit>
</skos:Concept></rdf:RDF>
"""
EXPECTED = Concept(
    "urn:x#temp",
    "urn:x",
    (
        Label("temp", "en", "preferred"),
        Label("temperatur", "nb", "preferred"),
        Label("t", "", "alternative"),
        Label("tmp", "en", "hidden"),
    ),
    (
        (Relation.EXACT, "urn:x#body"),
        (Relation.BROADER, "urn:x#any"),
        (Relation.RELATED, "urn:x#fever"),
    ),
    (Target("attribute", "patient.patient_temperature"),),
    "degF",
)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.ttl", TURTLE), ("a.jsonld", JSON_LD), ("a.rdf", RDF_XML)],
    ids=["ttl", "json", "xml"],
)
def test_three_notations_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_skos_file(path) == (EXPECTED,)


PREFIXES = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix dens: <urn:dens:thesaurus:1#> .\n"


@pytest.mark.parametrize(
    ("format_", "text", "problem"),
    [
        ("turtle", PREFIXES + "<a:b> skos:prefLabel ] .", "f:3:21: error D220: invalid turtle"),
        ("xml", "<a>\n<b></a>", "f:2:6: error D220: invalid xml: mismatched tag"),
        ("xml", "<?xml version='1.0'?>\n<!DOCTYPE a>\n<a/>", "f:2:1: error D220: DOCTYPE is not supported"),
        ("json-ld", '{"a": }', "f:1:7: error D220: invalid JSON"),
        (
            "json-ld",
            '{"@context": ["http://example.org/c"]}',
            'f:1:15: error D220: the context "http://example.org/c" is not fetched',
        ),
        ("json-ld", '{"@context": {"@import": "c.jsonld"}}', 'the context "c.jsonld" is not fetched'),
        ("json-ld", "[" * 100_000, "f:1:64: error D220: invalid JSON: brackets are nested 100,000 deep"),
        ("turtle", PREFIXES, "f: error D221: the file has no skos:Concept"),
        (
            "turtle",
            PREFIXES + '<a:b> skos:prefLabel "x"@en, "y"@en .',
            'f:3:30: error D221: a:b has two skos:prefLabel in language "en"',
        ),
        ("turtle", PREFIXES + '<a:b> skos:prefLabel " "@en .', "a skos:prefLabel of a:b is empty"),
        (
            "turtle",
            PREFIXES + '<a:b> a skos:Concept ; skos:notation "heart_rate"^^dens:attribute .',
            'f:3:38: error D221: a notation of a:b: "heart_rate" is not a valid attribute name',
        ),
        (
            "turtle",
            PREFIXES + '<a:b> a skos:Concept ; skos:notation "x"^^dens:atribute .',
            'unknown datatype dens:atribute (event, attribute, term, value); did you mean "attribute"?',
        ),
        (
            "turtle",
            PREFIXES + '<a:b> a skos:Concept ; dens:unit "degX" .',
            'f:3:34: error D221: a:b: unit "degX" is unknown',
        ),
        ("turtle", PREFIXES + '<a:b> a skos:Concept ; dens:unit "m", "s" .', "more than one dens:unit"),
        ("turtle", PREFIXES + '[] skos:prefLabel "x" .', "a concept has no IRI"),
    ],
)
def test_what_is_refused(format_: str, text: str, problem: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_skos(text.encode(), "f", format_)
    assert problem in str(error.value)


def test_a_name_that_says_no_format(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(TURTLE)
    with pytest.raises(DocumentError, match="unknown suffix"):
        read_skos_file(path)


def test_files_add_to_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    (tmp_path / "b.ttl").write_text(PREFIXES + '<urn:x#temp> skos:prefLabel "температура"@bg .')
    (concept,) = read_skos_files([tmp_path / "a.ttl", tmp_path / "b.ttl"])
    assert concept.labels[:4] == EXPECTED.labels
    assert concept.labels[4:] == (Label("температура", "bg", "preferred"),)
    assert (concept.unit, concept.targets) == (EXPECTED.unit, EXPECTED.targets)


def test_problems_of_all_files_come_together(tmp_path: Path) -> None:
    for name in ("a.ttl", "b.ttl"):
        (tmp_path / name).write_text("nonsense")
    with pytest.raises(DocumentError) as error:
        read_skos_files([tmp_path / "a.ttl", tmp_path / "b.ttl"])
    assert {Path(problem.file).name for problem in error.value.problems} == {"a.ttl", "b.ttl"}


def test_links_to_nowhere_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    _, warnings = compile_thesaurus_files([tmp_path / "a.ttl"])
    assert [warning.severity for warning in warnings] == ["warning"] * 3
    assert "urn:x#temp links to urn:x#body, which no file describes" in warnings[0].message
    assert dangling_links((EXPECTED,))[1] == ("urn:x#temp", "urn:x#any")


def test_missing_table_entries_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(
        PREFIXES
        + '<a:1> a skos:Concept ; skos:notation "patient.pulse"^^dens:attribute .\n'
        + '<a:2> a skos:Concept ; skos:notation "patient.ward=W9"^^dens:value .\n'
        + '<a:3> a skos:Concept ; skos:notation "lukewarm"^^dens:term .\n'
        + '<a:4> a skos:Concept ; skos:notation "patient.heart_rate"^^dens:attribute ; dens:unit "m" .\n'
        + '<a:5> a skos:Concept ; skos:notation "patient.heart_rate"^^dens:attribute ; dens:unit "bpm" .\n'
    )
    problems = check_thesaurus_file(path, load_mission_table(["medical"]))
    assert [problem.code for problem in problems] == ["D222"] * 4
    text = "\n".join(map(str, problems))
    assert "a:1: " in text
    assert '"pulse"' in text
    assert 'a:2: patient.ward has no value "W9"' in text
    assert 'a:3: no attribute has a term "lukewarm"' in text
    assert "a:4" in text
    assert check_thesaurus_file(path) == []


def concept(name: str, *statements: str) -> str:
    return f"<a:{name}> a skos:Concept ; " + " ; ".join(statements) + " .\n"


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ('dens:unit "degC"', 'dens:unit "degF"', "counts in"),
        ('skos:prefLabel "varme"@nb', 'skos:prefLabel "hete"@nb', "two skos:prefLabel"),
    ],
)
@pytest.mark.parametrize("order", [("a.ttl", "b.ttl"), ("b.ttl", "a.ttl")])
def test_files_that_contradict_each_other_are_refused_in_either_order(
    tmp_path: Path, one: str, other: str, message: str, order: tuple[str, str]
) -> None:
    (tmp_path / "a.ttl").write_text(PREFIXES + concept("heat", one))
    (tmp_path / "b.ttl").write_text(PREFIXES + concept("heat", other))
    with pytest.raises(DocumentError) as raised:
        read_skos_files([tmp_path / name for name in order])
    (problem,) = raised.value.problems
    assert problem.code == "D221"
    assert Path(problem.file).name == order[1]
    assert message in problem.message


@pytest.mark.parametrize("label", ["\\uD800", "\\u001B[31mred", "one\\ntwo", "\\u200B", "\\u0301", " "])
def test_unreadable_labels_are_refused(label: str) -> None:
    with pytest.raises(DocumentError) as raised:
        read_skos((PREFIXES + concept("x", f'skos:prefLabel "{label}"@en')).encode(), "a.ttl", "turtle")
    assert [problem.code for problem in raised.value.problems] == ["D221"]


def test_exact_links_between_different_things_are_warned_of(tmp_path: Path) -> None:
    mission = concept("hr", 'skos:notation "patient.heart_rate"^^dens:attribute') + concept(
        "rr", 'skos:notation "patient.respiration_rate"^^dens:attribute'
    )
    (tmp_path / "fine.ttl").write_text(PREFIXES + mission + concept("r", "skos:closeMatch <a:hr>, <a:rr>"))
    assert compile_thesaurus_files([tmp_path / "fine.ttl"])[1] == []
    (tmp_path / "bad.ttl").write_text(PREFIXES + mission + concept("r", "skos:exactMatch <a:hr>, <a:rr>"))
    (warning,) = compile_thesaurus_files([tmp_path / "bad.ttl"])[1]
    assert (warning.severity, warning.code) == ("warning", "D226")
    assert "patient.heart_rate (a:hr), patient.respiration_rate (a:rr)" in warning.message
