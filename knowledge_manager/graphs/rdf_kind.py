"""Detects whether an RDF file is a thesaurus, a taxonomy or a publication."""

from typing import Final, Literal

from dens.config.problems import DocumentError
from dens.config.reading import decode_text
from knowledge_manager.graphs.graph_reader import CODES
from knowledge_manager.rdf_text import read_rdf

RdfKind = Literal["thesaurus", "taxonomy", "publication"]

_SIGNS: Final[tuple[tuple[str, str, RdfKind], ...]] = (
    ("http://www.w3.org/2004/02/skos/core#", "prefLabel", "thesaurus"),
    ("http://www.w3.org/2000/01/rdf-schema#", "subClassOf", "taxonomy"),
)


def kind_of_rdf(content: bytes, file: str, format_: str) -> RdfKind:
    """Return the kind of a file: thesaurus if it has a `skos:prefLabel`, else taxonomy if it has an
    `rdfs:subClassOf`.

    A file that cannot be parsed is classified by its text; its reader then reports the errors.
    """
    try:
        text = decode_text(content, file)
    except DocumentError:
        return "publication"
    if not any(word in text for _, word, _ in _SIGNS):
        return "publication"
    try:
        stated = {str(one) for one in read_rdf(content, file, format_, CODES).graph.predicates()}
    except DocumentError:
        stated = {space + word for space, word, _ in _SIGNS if word in text}
    return next((kind for space, word, kind in _SIGNS if space + word in stated), "publication")
