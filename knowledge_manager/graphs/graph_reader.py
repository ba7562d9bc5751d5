"""Reads an RDF file (Turtle, N-Triples, JSON-LD, RDF/XML) into a graph of canonical terms.

One file is one publication. Named graphs and quoted triples are rejected; `owl:imports` is not followed.
Blank nodes are numbered by their statements, so that equal graphs get equal numbers as far as the statements
distinguish the nodes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dens.config.problems import DocumentError, Problem, listed
from dens.config.reading import place_of, read_document
from knowledge_manager.graphs.terms import (
    STRING,
    Blank,
    Graph,
    Iri,
    Literal,
    Term,
    TermError,
    Triple,
    iri,
    lacks_zone,
    literal,
    written,
)
from knowledge_manager.rdf_text import FORMATS, RdfCodes, read_rdf

CODES: Final = RdfCodes(doctype="D501", context="D502", crash="D503", syntax="D506")


@dataclass(frozen=True, slots=True)
class ReadGraph:
    """The statements of a file, and how many of its instants have no time zone."""

    graph: Graph
    zoneless: int = 0


def read_graph_file(path: Path) -> ReadGraph:
    """Return the graph in a file; invalid input raises `DocumentError`."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        message = f'unknown suffix "{path.suffix}" ({listed(list(FORMATS))})'
        raise DocumentError.of_file(str(path), "D506", message)
    return read_graph(read_document(path), str(path), format_)


def read_graph(content: bytes, file: str, format_: str) -> ReadGraph:
    """Return the graph in these bytes; invalid input raises `DocumentError`."""
    try:
        read = read_rdf(content, file, format_, CODES)
    except DocumentError as error:
        raise _about_quoting(error, content, file) from None
    if read.named:
        message = f"named graphs are not supported ({listed(read.named, 3)}); write one graph per file"
        raise DocumentError([Problem(file, *_place(read.text, read.named[0]), "error", "D505", message)])
    found = graph_of(read.graph, file, read.text)
    if not found.graph:
        raise DocumentError.of_file(file, "D506", "the file has no statements")
    return found


def graph_of(triples: Iterable[tuple[Any, Any, Any]], file: str, text: str = "") -> ReadGraph:
    """Return rdflib statements with canonical terms; invalid terms raise `DocumentError`."""
    blanks: dict[str, Blank] = {}
    found: dict[Triple, None] = {}
    problems: list[Problem] = []
    zoneless = 0
    for statement in triples:
        try:
            found[_triple(*(_term(one, blanks) for one in statement))] = None
        except TermError as error:
            wrong = next((str(one) for one in statement if str(one)[:20] in str(error)), "")
            problems.append(Problem(file, *_place(text, wrong), "error", "D507", str(error)))
        zoneless += any(lacks_zone(str(one), str(getattr(one, "datatype", ""))) for one in statement)
    if problems:
        raise DocumentError(problems)
    return ReadGraph(number_blank_nodes(found), zoneless)


_FURTHEST: Final = 64
"""Rounds of colour refinement: statements further away do not distinguish blank nodes."""


def number_blank_nodes(triples: Iterable[Triple]) -> Graph:
    """Number blank nodes from 0 by their statements; indistinguishable ones by their first occurrence.

    Colour refinement stops after `_FURTHEST` rounds, because a long chain of nodes would need one round per
    node.
    """
    statements = list(triples)
    about: dict[Blank, list[Triple]] = {}
    for triple in statements:
        for term in dict.fromkeys(triple):
            if isinstance(term, Blank):
                about.setdefault(term, []).append(triple)
    blanks = {one: place for place, one in enumerate(about)}
    colours: dict[Term, object] = dict.fromkeys(blanks, 0)
    for _ in range(min(len(blanks), _FURTHEST)):
        signs = {one: (colours[one], *sorted(_seen_from(one, about[one], colours))) for one in blanks}
        ranks = {sign: rank for rank, sign in enumerate(sorted(set(map(repr, signs.values()))))}
        finer: dict[Term, object] = {one: ranks[repr(sign)] for one, sign in signs.items()}
        if len(set(finer.values())) == len(set(colours.values())):
            break
        colours = finer
    in_order = sorted(blanks, key=lambda one: (colours[one], blanks[one]))
    number = {old: Blank(new) for new, old in enumerate(in_order)}
    return frozenset(
        Triple(*(number[term] if isinstance(term, Blank) else term for term in triple))
        for triple in statements
    )


def _seen_from(node: Blank, statements: list[Triple], colours: dict[Term, object]) -> Iterator[str]:
    """Yield the statements about a node, with other blank nodes replaced by their colours."""
    for triple in statements:
        yield " ".join(
            "here"
            if term == node
            else f"colour {colours[term]}"
            if isinstance(term, Blank)
            else written(term)
            for term in triple
        )


def _triple(subject: Term, property_: Term, object_: Term) -> Triple:
    """Return a statement; JSON-LD and N3 can express some that RDF does not allow."""
    if isinstance(subject, Literal):
        raise TermError(f"a literal cannot be a subject: {written(subject)[:80]}; make it an object")
    if not isinstance(property_, Iri):
        raise TermError(f"a property must be an IRI, not {written(property_)[:80]}")
    return Triple(subject, property_, object_)


def _term(node: Any, blanks: dict[str, Blank]) -> Term:
    from rdflib import BNode, URIRef
    from rdflib import Literal as Text

    if isinstance(node, Text):
        return literal(str(node), iri(str(node.datatype or STRING)).text, node.language or "")
    if isinstance(node, BNode):
        return blanks.setdefault(str(node), Blank(len(blanks)))
    if isinstance(node, URIRef):
        return iri(str(node))
    raise TermError(f"{type(node).__name__} is not a term of a graph")


def properties_of(graph: Graph) -> frozenset[Iri]:
    return frozenset(triple.property for triple in graph if isinstance(triple.property, Iri))


def _about_quoting(error: DocumentError, content: bytes, file: str) -> DocumentError:
    """Return a clearer error if the parser failed at a quoted triple."""
    text = content.decode(errors="replace")
    if "<<" not in text or error.problems[0].code != CODES.syntax:
        return error
    message = "quoted triples (statements about statements) are not supported; use a node"
    return DocumentError([Problem(file, *place_of(text, text.index("<<")), "error", "D505", message)])


def _place(text: str, word: str) -> tuple[int, int]:
    """Return line and column of the first occurrence of a word; rdflib keeps no positions."""
    at = text.find(word) if word else -1
    return place_of(text, at) if at >= 0 else (0, 0)
