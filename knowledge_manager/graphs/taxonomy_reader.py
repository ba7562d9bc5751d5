"""Reads a taxonomy from RDF: RDFS classes (`rdfs:subClassOf`) or SKOS concepts (`skos:broader`,
`skos:narrower`), things with their classes (`rdf:type`), and labels.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from dens.config.problems import DocumentError, Problem, listed
from dens.config.reading import place_of, read_document
from knowledge_manager.graphs.graph_reader import CODES
from knowledge_manager.graphs.taxonomy import Taxonomy, TaxonomyLabel, find_cycle
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
    """Return the taxonomy of an RDF file, named after the file; invalid input raises `DocumentError`."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        message = f'unknown suffix "{path.suffix}" ({listed(list(FORMATS))})'
        raise DocumentError.of_file(str(path), "D506", message)
    return read_taxonomy(read_document(path, LARGEST_SOURCE), str(path), format_, path.stem)


def read_taxonomy(content: bytes, file: str, format_: str, name: str) -> Taxonomy:
    """Return the taxonomy in these bytes; invalid input raises `DocumentError`."""
    read = read_rdf(content, file, format_, CODES)
    parents, types, labels = _facts(read.graph)
    if not parents:
        message = "the file has no classes; add rdfs:subClassOf or skos:broader"
        raise DocumentError.of_file(file, "D521", message)
    return acyclic_taxonomy(Taxonomy(name, parents, types, labels), file, read.text)


def acyclic_taxonomy(taxonomy: Taxonomy, file: str, text: str = "") -> Taxonomy:
    """Return the taxonomy if it has no cycle; otherwise raise `DocumentError`."""
    ring = find_cycle(taxonomy.parents)
    if ring:
        way = " → ".join(last_part(one) for one in (*ring, ring[0]))
        message = f"the class hierarchy has a cycle: {way}; remove one of these links"
        raise DocumentError([Problem(file, *_place_of_link(text, ring), "error", "D520", message)])
    return taxonomy


def _place_of_link(text: str, ring: Sequence[str]) -> tuple[int, int]:
    """Return the position where the first class of a cycle is linked to the next: the two nearest mentions
    with a linking word between them, whatever the format.
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
        one, link, other = str(subject), str(property_), str(object_)
        if link in _WORDS:
            words[one].add(TaxonomyLabel(other, (getattr(object_, "language", None) or "").lower()))
        elif not isinstance(object_, URIRef):
            continue
        elif link in _UP or link in _DOWN:
            lower, upper = (other, one) if link in _DOWN else (one, other)
            parents[upper]  # a class, with or without parents
            parents[lower].update({upper} - {lower})
        elif link == _TYPE and other in _CLASS_OF_CLASSES:
            parents[one]
        elif link == _TYPE and other not in _NO_THINGS:
            stated[one].add(other)
    things = {one: kept for one, of in stated.items() if (kept := tuple(sorted(of & parents.keys())))}
    named = {
        one: tuple(sorted(some, key=_in_order)) for one, some in words.items() if one in {*parents, *things}
    }
    return {one: tuple(sorted(above)) for one, above in sorted(parents.items())}, things, named


def _in_order(label: TaxonomyLabel) -> tuple[str, str]:
    return label.language, label.text
