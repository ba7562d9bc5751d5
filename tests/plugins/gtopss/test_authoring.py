"""What people do with patterns: two ways of writing, one vector, and back."""

import subprocess
import sys

import pytest
from hypothesis import given

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import load_mission_table
from plugins.gtopss.authoring.decompile import decompile
from plugins.gtopss.authoring.explain import bindings_in_words, explain_publication
from plugins.gtopss.authoring.graph_authoring import GraphAuthoring
from plugins.gtopss.match import Verdict
from plugins.gtopss.pattern import Pattern, renumbered
from plugins.gtopss.vectors import encode_pattern
from tests.plugins.gtopss.graphs import ITEM_BYTES, PATTERN_BYTES, REPORTS, patterns
from watchdog.header import body_of, framed
from watchdog.vector import VectorError

AUTHORING = GraphAuthoring()

XML = """<subscription xmlns="urn:dens:graph:1" valid="PT6H">
  <prefix name="rss" iri="http://purl.org/rss/1.0/"/>
  <prefix name="dc" iri="http://purl.org/dc/elements/1.1/"/>
  <prefix name="t" iri="urn:dens:hazard:"/>
  <edge subject="?item" property="rdf:type" object="rss:item"/>
  <edge subject="?item" property="dc:subject" object="?topic"/>
  <edge subject="?item" property="dc:date" object="?when"/>
  <where variable="?topic" operator="is-a">t:flood</where>
  <where variable="?when" operator="ge" datatype="dateTime">2026-05-01T00:00:00Z</where>
</subscription>"""
QUERY = """SELECT * { ?item a rss:item ; dc:subject ?topic ; dc:date ?when .
  FILTER(g:isA(?topic, t:flood) && ?when >= "2026-05-01T00:00:00Z"^^xsd:dateTime) }"""
ESCAPED = QUERY.replace("&", "&amp;").replace("<", "&lt;")
WITHIN = f'<subscription xmlns="urn:dens:graph:1"><sparql>{ESCAPED}</sparql></subscription>'


def vector(source: str, file: str) -> bytes:
    made = AUTHORING.compile(source.encode(), file, REPORTS)
    return framed(0, 0, made.lifetime_q, made.body)


@pytest.mark.parametrize(("source", "file"), [(XML, "a.xml"), (QUERY, "a.rq"), (WITHIN, "a.xml")])
def test_three_ways_to_write_the_golden_pattern(source: str, file: str) -> None:
    assert vector(source, file) == PATTERN_BYTES


def test_a_query_says_how_long_in_a_comment() -> None:
    assert vector("# valid: P1D\n" + QUERY, "a.rq")[2] == vector(XML.replace("PT6H", "P1D"), "a.xml")[2]
    with pytest.raises(DocumentError, match=r"a.rq:1:10: error D119"):
        vector("# valid: soon\n" + QUERY, "a.rq")


@given(patterns())
def test_what_is_decompiled_compiles_to_the_same_bytes(pattern: Pattern) -> None:
    wanted = framed(7, 0, 99, encode_pattern(renumbered(pattern), REPORTS.dictionary))
    document = decompile(wanted, REPORTS).encode()
    errors = {one.code for one in AUTHORING.check(document, "f.xml", REPORTS) if one.severity == "error"}
    assert errors <= {"D514", "D515"}, "unlikely to be written by hand: contradictions, strange classes"
    if not errors:
        made = AUTHORING.compile(document, "f.xml", REPORTS)
        assert framed(7, 0, made.lifetime_q, made.body) == wanted


def test_text_that_xml_cannot_represent_is_reported() -> None:
    from knowledge_manager.graphs.terms import Iri, literal
    from plugins.gtopss.pattern import Edge

    odd = Pattern(1, (Edge(0, Iri("urn:p"), literal("\x01")),))
    with pytest.raises(VectorError, match="XML does not allow"):
        decompile(framed(0, 0, 0, encode_pattern(odd, REPORTS.dictionary)), REPORTS)


def test_explanations_name_what_fails() -> None:
    found = explain_publication(PATTERN_BYTES, REPORTS, ITEM_BYTES)
    assert found.verdict is Verdict.MATCHED
    assert "matches" in found.lines()
    later = vector(XML.replace("2026-05-01", "2026-06-01"), "a.xml")
    missed = explain_publication(later, REPORTS, ITEM_BYTES)
    assert missed.lines()[-1].startswith("not matched: no match for where ?c ≥")
    apart = vector("ASK { ?a dc:subject ?b . ?c dcterms:spatial ?b }", "a.rq")
    assert (
        "shares no node with the edges before" in explain_publication(apart, REPORTS, ITEM_BYTES).lines()[-1]
    )
    words = bindings_in_words(body_of(PATTERN_BYTES), ITEM_BYTES, REPORTS)
    assert words.startswith("?a = <https://example.org/n/41>, ?b = t:flashFlood")


def test_every_byte_is_described() -> None:
    for one, kind in ((PATTERN_BYTES, "subscription"), (ITEM_BYTES, "notification")):
        description = AUTHORING.describe(one, REPORTS)
        assert description.kind == kind
        assert b"".join(field.content for field in description.fields) == one


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("ASK { ?a dc:subject ?b FILTER(?b = 5 && ?b = 6) }", "D514"),
        ("ASK { ?a dc:subject ?b FILTER(?a > 5) }", "D514"),
        ("ASK { ?a dc:subject ?b FILTER(?b > 5 && g:isA(?b, t:flood)) }", "D514"),
        ('ASK { ?a dc:subject ?b FILTER(?b > 5 && ?b < "x") }', "D514"),
        ("ASK { ?a dc:subject ?b FILTER(?a != ?a) }", "D514"),
        ("ASK { ?a dc:subject ?b FILTER(?b > t:flood) }", "D516"),
        ("ASK { ?a dc:subject ?b FILTER(g:isA(?b, t:flod)) }", "D515"),
        ("ASK { ?a dc:subject ?b FILTER(g:isA(?c, t:flood)) }", "D519"),
        ("ASK { 5 dc:subject ?b }", "D519"),
        ("ASK { }", "D513"),
    ],
)
def test_what_is_refused(source: str, code: str) -> None:
    assert code in {problem.code for problem in AUTHORING.check(source.encode(), "a.rq", REPORTS)}


def test_help_and_nodes_import_no_rdflib() -> None:
    code = (
        "import sys, dens.cli.main, dens.node.assembly, dens.node.processes.process, plugins.registry\n"
        "from plugins.gtopss.language import GRAPH\n"
        "from knowledge_manager.mission_table import load_mission_table\n"
        "table = load_mission_table(['reports'])\n"
        "GRAPH.matcher(table); GRAPH.source_filter(table)\n"
        "sys.exit('rdflib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


MISTAKES = """SELECT * {
  ?i ?p ?x ;
     dcc:date ?d ; dc:subject|dc:date ?y .
  FILTER(REGEX(?x, "dcc:a"))
  FILTER(?d + 1 > 3 && ?d < ?x)
  # dcx:none
}"""


def test_all_errors_of_a_query_are_reported_at_their_place() -> None:
    found = AUTHORING.check(MISTAKES.encode(), "a.rq", REPORTS)
    assert [(one.line, one.column, one.code) for one in found] == [
        (2, 6, "D510"),
        (3, 6, "D515"),
        (3, 20, "D510"),
        (4, 3, "D510"),
        (5, 3, "D510"),
        (5, 24, "D510"),
    ]


def test_unsupported_query_parts_are_reported_at_their_place() -> None:
    ring = "SELECT * {\n" + "\n".join(f"?{a} dc:p ?{b} ." for a in "abcde" for b in "abcde" if a < b) + "}"
    [found] = AUTHORING.check(ring.encode(), "a.rq", REPORTS)
    assert (found.line, found.column, found.code) == (9, 4, "D511"), "at ?c dc:p ?d"
    listed = "SELECT * { ?i dc:p " + ",\n".join(f"<urn:x{number}>" for number in range(65)) + " }"
    [found] = AUTHORING.check(listed.encode(), "a.rq", REPORTS)
    assert (found.line, found.column, found.code) == (65, 1, "D513"), "at the last object"


def test_class_with_subclasses_gets_a_remark_if_only_it_is_subscribed() -> None:
    made = AUTHORING.compile(b"ASK {\n ?r a t:flood . ?i a t:flashFlood ; a rss:item }", "a.rq", REPORTS)
    [remark] = made.remarks
    assert remark.startswith("line 2: rdf:type matches t:flood itself, not the ")
    assert not AUTHORING.compile(XML.encode(), "a.xml", REPORTS).remarks


def test_prefixes_that_a_library_knows_are_not_known() -> None:
    bare = load_mission_table(["medical"])
    query = b'ASK { ?i rdf:type <urn:a> ; <urn:b> ?d . FILTER(?d > "1"^^xsd:integer) }'
    assert not AUTHORING.check(query, "a.rq", bare)
    [problem] = AUTHORING.check(b"ASK { ?i foaf:name ?n }", "a.rq", REPORTS)
    assert (problem.code, problem.column) == ("D515", 10)


def test_a_name_that_is_nearly_a_known_one_is_a_warning() -> None:
    """It would match nothing, for ever and in silence; other names are the author's own."""
    query = b'ASK { ?i dc:subjct t:fluud ; dc:title "x" ; <http://a.example/subject> <urn:flood> }'
    found = AUTHORING.check(query, "a.rq", REPORTS)
    assert [(one.code, one.severity) for one in found] == [("D515", "warning")] * 2
    assert found[0].message.endswith('dc:subjct is in no dictionary and no taxonomy; did you mean "subject"?')
    assert found[1].message.endswith('t:fluud is in no dictionary and no taxonomy; did you mean "flood"?')
