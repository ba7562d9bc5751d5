"""A cycle of classes is reported at the place of its first link, whatever the format."""

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.graphs.taxonomy_reader import read_taxonomy

TURTLE = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix e: <urn:e:> .
e:x rdfs:subClassOf e:a .
e:a rdfs:label "b" ;
  rdfs:subClassOf e:b .
e:b rdfs:subClassOf e:a .
"""
XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://www.w3.org/2004/02/skos/core#">
  <s:Concept rdf:about="urn:e:b">
    <s:narrower rdf:resource="urn:e:a"/>
    <s:broader rdf:resource="urn:e:a"/>
  </s:Concept>
</rdf:RDF>
"""


@pytest.mark.parametrize(
    ("text", "format_", "place"), [(TURTLE, "turtle", (4, 3)), (XML, "xml", (2, 31))], ids=["turtle", "xml"]
)
def test_cycle_is_reported_at_its_first_link(text: str, format_: str, place: tuple[int, int]) -> None:
    with pytest.raises(DocumentError, match="a → b → a") as refused:
        read_taxonomy(text.encode(), "circle", format_, "circle")
    [problem] = refused.value.problems
    assert (problem.line, problem.column, problem.code) == (*place, "D520")
