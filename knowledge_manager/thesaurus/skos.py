"""Reads SKOS (Turtle, JSON-LD, RDF/XML) into concepts.

Supported: `skos:prefLabel`, `altLabel`, `hiddenLabel`; `exactMatch`, `closeMatch`, `broadMatch`,
`narrowMatch`, `relatedMatch`, `broader`, `narrower`, `related`; `inScheme`, `topConceptOf`; and the two links
to a mission table: `skos:notation` with a datatype of the namespace `urn:dens:thesaurus:1#` (`event`,
`attribute`, `term`, `value`), and `dens:unit`. Everything else is ignored.

Nothing is fetched (`knowledge_manager.rdf_text`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from dens.config.problems import DocumentError, Problem, did_you_mean, listed
from dens.config.reading import place_of, read_document
from knowledge_manager.rdf_text import FORMATS as FORMATS_OF_RDF
from knowledge_manager.rdf_text import RdfCodes, read_rdf
from knowledge_manager.thesaurus.concept import (
    TARGET_KINDS,
    Concept,
    Label,
    LabelKind,
    Relation,
    Target,
    is_readable,
    merge_concepts,
    target,
)
from knowledge_manager.units import UnitError, check_unit

NAMESPACE: Final = "urn:dens:thesaurus:1#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
LARGEST_SOURCE: Final = 64 * 1024 * 1024

FORMATS: Final = {suffix: FORMATS_OF_RDF[suffix] for suffix in (".ttl", ".jsonld", ".rdf")}
"""rdflib's format name by file suffix."""

CODES: Final = RdfCodes(doctype="D220", context="D220", crash="D220", syntax="D220")

_LABELS: Final[tuple[tuple[str, LabelKind], ...]] = (
    ("prefLabel", "preferred"),
    ("altLabel", "alternative"),
    ("hiddenLabel", "hidden"),
)
_LINKS: Final = (
    ("exactMatch", Relation.EXACT),
    ("closeMatch", Relation.CLOSE),
    ("narrower", Relation.NARROWER),
    ("narrowMatch", Relation.NARROWER),
    ("broader", Relation.BROADER),
    ("broadMatch", Relation.BROADER),
    ("related", Relation.RELATED),
    ("relatedMatch", Relation.RELATED),
)


_SKOS_PROPERTIES: Final = frozenset(
    [
        "altLabel",
        "broadMatch",
        "broader",
        "broaderTransitive",
        "changeNote",
        "closeMatch",
        "definition",
        "editorialNote",
        "exactMatch",
        "example",
        "hasTopConcept",
        "hiddenLabel",
        "historyNote",
        "inScheme",
        "mappingRelation",
        "member",
        "memberList",
        "narrowMatch",
        "narrower",
        "narrowerTransitive",
        "notation",
        "note",
        "prefLabel",
        "related",
        "relatedMatch",
        "scopeNote",
        "semanticRelation",
        "topConceptOf",
    ]
)
_SKOS_CLASSES: Final = frozenset({"Collection", "Concept", "ConceptScheme", "OrderedCollection"})
"""The complete SKOS vocabulary (https://www.w3.org/TR/skos-reference/): other names in its namespace are
misspelt.
"""
_DENS_PROPERTIES: Final = frozenset({"unit"})


def read_skos_file(path: Path) -> tuple[Concept, ...]:
    """Return the concepts of one file; invalid input raises `DocumentError`."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        message = f'unknown suffix "{path.suffix}" ({listed(list(FORMATS))})'
        raise DocumentError.of_file(str(path), "D220", message)
    return read_skos(read_document(path, LARGEST_SOURCE), str(path), format_)


def read_skos_files(paths: Iterable[Path]) -> tuple[Concept, ...]:
    """Return the concepts of all files. All problems are raised as one `DocumentError`."""
    by_uri: dict[str, Concept] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            concepts = read_skos_file(path)
        except DocumentError as error:
            problems.extend(error.problems)
            continue
        for concept in concepts:
            known = by_uri.get(concept.uri)
            if known is not None:
                problems.extend(
                    Problem(str(path), 0, 0, "error", "D221", message)
                    for message in _contradictions(known, concept)
                )
            by_uri[concept.uri] = concept if known is None else merge_concepts(known, concept)
    if problems:
        raise DocumentError(problems)
    return tuple(by_uri.values())


def joined_concepts(concepts: Iterable[Concept]) -> tuple[Concept, ...]:
    """Merge the descriptions of each concept."""
    by_uri: dict[str, Concept] = {}
    for concept in concepts:
        known = by_uri.get(concept.uri)
        by_uri[concept.uri] = concept if known is None else merge_concepts(known, concept)
    return tuple(by_uri.values())


def _contradictions(one: Concept, other: Concept) -> Iterator[str]:
    """Yield contradictions between two descriptions of a concept, whatever their order."""
    if one.unit and other.unit and one.unit != other.unit:
        yield f"{one.uri} counts in {other.unit} here and in {one.unit} in another file"
    preferred = {label.language: label.text for label in one.labels if label.kind == "preferred"}
    for label in other.labels:
        elsewhere = preferred.get(label.language, label.text)
        if label.kind == "preferred" and label.text != elsewhere:
            texts = f'"{label.text}" here and "{elsewhere}" in another file'
            yield f"{one.uri} has two skos:prefLabel in one language, {texts}; make one an altLabel"


def dangling_links(concepts: Sequence[Concept]) -> tuple[tuple[str, str], ...]:
    """Return (concept, missing concept) for each link to an unknown concept."""
    known = {concept.uri for concept in concepts}
    return tuple((c.uri, uri) for c in concepts for _, uri in c.links if uri not in known)


def read_skos(content: bytes, file: str, format_: str) -> tuple[Concept, ...]:
    """Return the concepts in these bytes, sorted by URI; invalid input raises `DocumentError`."""
    read = read_rdf(content, file, format_, CODES)
    reader = _Reader(read.graph, read.text, file)
    concepts = tuple(reader.concepts())
    reader.report_mistyped()
    if reader.problems:
        raise DocumentError(reader.problems)
    if not concepts:
        raise DocumentError.of_file(file, "D221", "the file has no skos:Concept")
    return concepts


class _Reader:
    """Reads the concepts of a graph and collects problems."""

    def __init__(self, graph: Any, text: str, file: str) -> None:
        from rdflib import RDF, Literal, URIRef

        self._graph = graph
        self._text = text
        self._file = file
        self._literal = Literal
        self._node = URIRef
        self._type = RDF.type
        self.problems: list[Problem] = []

    def concepts(self) -> Iterator[Concept]:
        subjects = set(self._graph.subjects(self._type, self._skos("Concept")))
        subjects.update(self._graph.subjects(self._skos("prefLabel")))
        for subject in sorted(subjects, key=str):
            if not isinstance(subject, self._node):
                self._report("", "a concept has no IRI; give it one, so that others can link to it")
                continue
            yield Concept(
                str(subject),
                self._scheme(subject),
                tuple(self._labels(subject)),
                tuple(self._links(subject)),
                tuple(self._targets(subject)),
                self._unit(subject),
            )

    def report_mistyped(self) -> None:
        """Report unknown names in the SKOS and DENS namespaces, which would otherwise be ignored silently."""
        names = {(str(predicate), "property") for predicate in set(self._graph.predicates())}
        names |= {(str(kind), "class") for kind in set(self._graph.objects(None, self._type))}
        for namespace, prefix, what, known in (
            (SKOS, "skos", "property", _SKOS_PROPERTIES),
            (SKOS, "skos", "class", _SKOS_CLASSES),
            (NAMESPACE, "dens", "property", _DENS_PROPERTIES),
        ):
            for address, kind in sorted(names):
                name = address.removeprefix(namespace)
                if kind != what or name == address or name in known:
                    continue
                hint = did_you_mean(name, known) or f" ({listed(sorted(known), 30)})"
                self._report_name(name, f"{prefix}:{name} is not a {what} of {prefix}:{hint}")

    def _report_name(self, name: str, message: str) -> None:
        """Report a problem at the first occurrence of this name."""
        found = re.search(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])", self._text)
        line, column = place_of(self._text, found.start()) if found else (0, 0)
        self.problems.append(Problem(self._file, line, column, "error", "D221", message))

    def _skos(self, name: str) -> Any:
        return self._node(SKOS + name)

    def _scheme(self, subject: Any) -> str:
        schemes = {
            str(o) for p in ("inScheme", "topConceptOf") for o in self._graph.objects(subject, self._skos(p))
        }
        return min(schemes, default="")

    def _labels(self, subject: Any) -> list[Label]:
        labels: list[Label] = []
        for name, kind in _LABELS:
            languages: set[str] = set()
            for text in sorted(self._graph.objects(subject, self._skos(name)), key=_in_order):
                language = (getattr(text, "language", None) or "").lower()
                if not isinstance(text, self._literal) or not is_readable(str(text)):
                    self._report(str(text), f"a skos:{name} of {subject} is empty or cannot be read")
                elif kind == "preferred" and language in languages:
                    where = f'in language "{language}"' if language else "without a language"
                    self._report(str(text), f"{subject} has two skos:prefLabel {where}; make one an altLabel")
                else:
                    labels.append(Label(str(text), language, kind))
                languages.add(language)
        return labels

    def _links(self, subject: Any) -> list[tuple[Relation, str]]:
        return [
            (relation, str(end))
            for name, relation in _LINKS
            for end in sorted(self._graph.objects(subject, self._skos(name)), key=str)
            if isinstance(end, self._node)
        ]

    def _targets(self, subject: Any) -> list[Target]:
        targets: list[Target] = []
        for notation in sorted(self._graph.objects(subject, self._skos("notation")), key=_in_order):
            datatype = str(getattr(notation, "datatype", None) or "")
            if not datatype.startswith(NAMESPACE):
                continue
            name = datatype.removeprefix(NAMESPACE)
            kind = next((known for known in TARGET_KINDS if known == name), None)
            if kind is None:
                known = f"{listed(TARGET_KINDS)}){did_you_mean(name, TARGET_KINDS)}"
                self._report(
                    str(notation), f"a notation of {subject} has the unknown datatype dens:{name} ({known}"
                )
                continue
            try:
                targets.append(target(kind, str(notation)))
            except ValueError as error:
                self._report(str(notation), f"a notation of {subject}: {error}")
        return targets

    def _unit(self, subject: Any) -> str:
        units = sorted(str(unit) for unit in self._graph.objects(subject, self._node(NAMESPACE + "unit")))
        if len(units) > 1:
            self._report(units[1], f"{subject} has more than one dens:unit")
        for unit in units:
            try:
                check_unit(unit)
            except UnitError as error:
                self._report(unit, f"{subject}: {error}")
        return units[0] if units else ""

    def _report(self, literal: str, message: str) -> None:
        """Report a problem at the first occurrence of its text; rdflib keeps no positions."""
        at = self._text.find(f'"{literal}"') if literal else -1
        line, column = place_of(self._text, at) if at >= 0 else (0, 0)
        self.problems.append(Problem(self._file, line, column, "error", "D221", message))


def _in_order(literal: Any) -> tuple[str, str, str]:
    return str(literal), str(getattr(literal, "language", None)), str(getattr(literal, "datatype", None))
