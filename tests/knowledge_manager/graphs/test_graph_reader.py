"""Files of RDF become graphs of canonical terms, or are refused; nothing is fetched."""

import socket
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import BNode, Literal, URIRef

from dens.config.problems import DocumentError
from knowledge_manager.graphs.dictionary import Dictionary
from knowledge_manager.graphs.graph_reader import graph_of, number_blank_nodes, read_graph, read_graph_file
from knowledge_manager.graphs.rdf_kind import kind_of_rdf
from knowledge_manager.graphs.terms import Blank, Graph, Iri, Triple, literal
from plugins.gtopss.vectors import GraphPublication, decode_publication, encode_publication

ODD = Literal("x", datatype=URIRef("date time"))
TURTLE = '<urn:a> <urn:p> "x"@EN, 007, [ <urn:q> 5.50 ] .'
JSON = """{"@id": "urn:a", "urn:p": [{"@value": "x", "@language": "en"},
  {"@value": "7", "@type": "http://www.w3.org/2001/XMLSchema#integer"},
  {"urn:q": {"@value": "5.5", "@type": "http://www.w3.org/2001/XMLSchema#decimal"}}]}"""
XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">
  <rdf:Description rdf:about="urn:a">
    <u:p xml:lang="en">x</u:p>
    <u:p rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">7</u:p>
    <u:p><rdf:Description><u:q rdf:datatype="http://www.w3.org/2001/XMLSchema#decimal">5.5</u:q></rdf:Description></u:p>
  </rdf:Description>
</rdf:RDF>"""


def graph(text: str, format_: str) -> Graph:
    return read_graph(text.encode(), "f", format_).graph


def test_four_notations_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("nothing is fetched")

    monkeypatch.setattr(socket, "socket", refused)
    lines = '<urn:a> <urn:p> "x"@en .\n<urn:a> <urn:p> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    lines += '<urn:a> <urn:p> _:n .\n_:n <urn:q> "5.5"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n'
    wanted = graph(TURTLE, "turtle")
    assert Triple(Iri("urn:a"), Iri("urn:p"), literal("x", language="en")) in wanted
    assert {len(wanted), *(len(one) for one in wanted)} == {4, 3}
    for text, format_ in ((lines, "nt"), (JSON, "json-ld"), (XML, "xml")):
        assert graph(text, format_) == wanted


def test_blank_nodes_are_numbered_by_their_statements() -> None:
    one = graph("[] <urn:p> 2 . [] <urn:p> 1 . [] <urn:q> [ <urn:p> 3 ] .", "turtle")
    other = graph("[] <urn:q> [ <urn:p> 3 ] . [] <urn:p> 1 . [] <urn:p> 2 .", "turtle")
    assert one == other
    assert {term.number for triple in one for term in triple if isinstance(term, Blank)} == {0, 1, 2, 3}


def test_instants_without_a_zone_are_counted() -> None:
    text = '<urn:a> <urn:p> "2026-05-01T00:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'
    assert read_graph(text.encode(), "f", "turtle").zoneless == 1


@pytest.mark.parametrize(
    ("text", "format_", "code"),
    [
        ('<!DOCTYPE a [<!ENTITY b "b">]><a/>', "xml", "D501"),
        ('{"@context": {"@import": "https://example.org/c"}, "@id": "urn:a"}', "json-ld", "D502"),
        ("<urn:a> <urn:p> " + "9" * 5000 + " .", "turtle", "D503"),
        ('{"urn:p":' * 900 + "1" + "}" * 900, "json-ld", "D503"),
        ('{"@id": "urn:g", "@graph": [{"@id": "urn:a", "urn:p": "x"}]}', "json-ld", "D505"),
        ("", "turtle", "D506"),
        ("hello", "turtle", "D506"),
        ("<urn:a> <urn:p> <urn:{> .", "turtle", "D507"),
        ('@prefix : <urn:x:> .\n"hello" :p :o .', "turtle", "D507"),
        ('<urn:a> <urn:p> "x"^^<urn:{> .', "turtle", "D507"),
    ],
)
def test_refusals_come_soon(text: str, format_: str, code: str) -> None:
    begin = time.process_time()
    with pytest.raises(DocumentError) as error:
        graph(text, format_)
    assert error.value.problems[0].code == code
    assert time.process_time() - begin < 5


def test_invalid_rdf_statement_is_reported_with_its_place() -> None:
    """A literal as subject, an unnamed property, a datatype other than an IRI: vectors cannot hold them."""
    with pytest.raises(DocumentError) as error:
        graph('@prefix : <urn:x:> .\n:a :p "fine" .\n"hello" :p :o .', "turtle")
    assert [str(problem) for problem in error.value.problems] == [
        'f:3:2: error D507: a literal cannot be a subject: "hello"; make it an object'
    ]
    a, p, text = URIRef("urn:a"), URIRef("urn:p"), Literal("x", datatype=URIRef("date time"))
    for statement in ((a, p, text), (a, BNode(), a), (a, Literal("p"), a), (Literal("x"), p, a)):
        with pytest.raises(DocumentError) as error:
            graph_of([statement], "f")
        assert [problem.code for problem in error.value.problems] == ["D507"]


@given(
    st.lists(
        st.tuples(*(st.sampled_from([URIRef("urn:a"), URIRef("a b"), BNode("b"), Literal("x"), ODD]),) * 3),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_read_can_be_sent(statements: list[Any]) -> None:
    """Whatever a parser gives is refused, or has bytes that a decoder takes."""
    codes: set[str] = set()
    found: Graph = frozenset()
    try:
        found = graph_of(statements, "f").graph
    except DocumentError as error:
        codes = {problem.code for problem in error.problems}
    if not found:
        assert codes == {"D507"}
        return
    vector = encode_publication(GraphPublication(found), Dictionary())
    assert decode_publication(vector, Dictionary()).graph == found


def test_a_file_says_its_format_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "item.csv"
    path.write_text(TURTLE)
    with pytest.raises(DocumentError, match="unknown suffix"):
        read_graph_file(path)
    path = path.rename(tmp_path / "item.ttl")
    assert len(read_graph_file(path).graph) == 4
    path.write_text("#" * 70_000)
    with pytest.raises(DocumentError, match="D003"):
        read_graph_file(path)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('<urn:a> <http://www.w3.org/2004/02/skos/core#prefLabel> "x" .', "thesaurus"),
        ("<urn:a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:b> .", "taxonomy"),
        ('<urn:a> <urn:says> "prefLabel and subClassOf" .', "publication"),
        ("<urn:a> rdfs:subClassOf", "taxonomy"),
    ],
)
def test_what_a_file_of_rdf_is(text: str, kind: str) -> None:
    assert kind_of_rdf(text.encode(), "f.ttl", "turtle") == kind


def test_a_long_chain_of_nodes_without_names_is_numbered_in_bounded_rounds() -> None:
    """A round for each node, and every statement for each node in it, would be cubic."""
    chain = [Triple(Blank(one), Iri("urn:next"), Blank(one + 1)) for one in range(2_000)]
    found = number_blank_nodes(chain)
    assert len(found) == len(chain)
    assert {term.number for triple in found for term in triple if isinstance(term, Blank)} == set(
        range(2_001)
    )
