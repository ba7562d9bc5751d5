"""Reads a taxonomy from RDF: classes of RDFS (`rdfs:subClassOf`) or concepts of SKOS (`skos:broader`,
`skos:narrower`), things that are of them (`rdf:type`), and what people call them.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from dens.config.problems import DocumentError, Problem, listed
from dens.config.reading import place_of, read_document
from knowledge_manager.graphs.graph_reader import CODES
from knowledge_manager.graphs.taxonomy import Taxonomy, TaxonomyLabel, circle_in
from knowledge_manager.graphs.terms import RDF, last_part
from knowledge_manager.rdf_text import FORMATS, read_rdf

LARGEST_SOURCE: Final = 64 * 1024 * 1024

_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_OWL: Final = "http://www.w3.org/2002/07/owl#"
_SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
_TYPE: Final = RDF + "type"
_UP: Final = frozenset({_RDFS + "subClassOf", _SKOS + "broader"})
_DOWN: Final = frozenset({_SKOS + "narrower"})
_LINKS: Final = ("subClassOf", "broader", "narrower")
_CLASS_OF_CLASSES: Final = frozenset({_RDFS + "Class", _OWL + "Class", _SKOS + "Concept"})
_NO_THINGS: Final = frozenset({_SKOS + "ConceptScheme", _OWL + "Ontology", _RDFS + "Resource"})
_WORDS: Final = frozenset({_RDFS + "label", _SKOS + "prefLabel", _SKOS + "altLabel"})


def read_taxonomy_file(path: Path) -> Taxonomy:
    """Return the taxonomy in a file of RDF, by the file's name; what is wrong raises `DocumentError`."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        message = f'the end of the name "{path.suffix}" says no format ({listed(list(FORMATS))})'
        raise DocumentError.of_file(str(path), "D506", message)
    return read_taxonomy(read_document(path, LARGEST_SOURCE), str(path), format_, path.stem)


def read_taxonomy(content: bytes, file: str, format_: str, name: str) -> Taxonomy:
    """Return the taxonomy in these bytes; what is wrong raises `DocumentError`."""
    read = read_rdf(content, file, format_, CODES)
    parents, types, labels = _facts(read.graph)
    if not parents:
        message = "there is no class in it; say rdfs:subClassOf or skos:broader of some"
        raise DocumentError.of_file(file, "D521", message)
    return sound_taxonomy(Taxonomy(name, parents, types, labels), file, read.text)


def sound_taxonomy(taxonomy: Taxonomy, file: str, text: str = "") -> Taxonomy:
    """Return the taxonomy if nothing in it is its own ancestor; else raise `DocumentError`."""
    ring = circle_in(taxonomy.parents)
    if ring:
        way = " → ".join(last_part(one) for one in (*ring, ring[0]))
        message = f"classes are below each other in a circle: {way}; take one of these links away"
        raise DocumentError([Problem(file, *_place_of_link(text, ring), "error", "D520", message)])
    return taxonomy


def _place_of_link(text: str, ring: Sequence[str]) -> tuple[int, int]:
    """Return where the first class of a circle is said to be below the next: the two nearest mentions with a
    word between them that links classes, whatever the format.
    """
    lower, upper = (last_part(one) for one in (*ring, ring[0])[:2])
    mention = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, (lower, upper, *_LINKS)))})(?!\w)")
    before, link, nearest = dict[str, int](), ("", -1), (len(text), -1)
    for found in mention.finditer(text):
        word, at = found.group(), found.start()
        if word in _LINKS:
            link = word, at
            continue
        begin, end = (upper, lower) if link[0] == "narrower" else (lower, upper)
        other = before.get(begin, -1)
        if word == end and 0 <= other < link[1]:
            nearest = min(nearest, (at - other, other))
        before[word] = at
    place = nearest[1] if nearest[1] >= 0 else text.find(lower)
    return place_of(text, place) if place >= 0 else (0, 0)


def _facts(
    graph: Any,
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], dict[str, tuple[TaxonomyLabel, ...]]]:
    from rdflib import URIRef

    parents: dict[str, set[str]] = defaultdict(set)
    stated: dict[str, set[str]] = defaultdict(set)
    words: dict[str, set[TaxonomyLabel]] = defaultdict(set)
    for subject, property_, object_ in graph:
        if not isinstance(subject, URIRef):
            continue
        one, said, other = str(subject), str(property_), str(object_)
        if said in _WORDS:
            words[one].add(TaxonomyLabel(other, (getattr(object_, "language", None) or "").lower()))
        elif not isinstance(object_, URIRef):
            continue
        elif said in _UP or said in _DOWN:
            lower, upper = (other, one) if said in _DOWN else (one, other)
            parents[upper]  # a class, with or without parents
            parents[lower].update({upper} - {lower})
        elif said == _TYPE and other in _CLASS_OF_CLASSES:
            parents[one]
        elif said == _TYPE and other not in _NO_THINGS:
            stated[one].add(other)
    things = {one: kept for one, of in stated.items() if (kept := tuple(sorted(of & parents.keys())))}
    named = {
        one: tuple(sorted(some, key=_in_order)) for one, some in words.items() if one in {*parents, *things}
    }
    return {one: tuple(sorted(above)) for one, above in sorted(parents.items())}, things, named


def _in_order(label: TaxonomyLabel) -> tuple[str, str]:
    return label.language, label.text
