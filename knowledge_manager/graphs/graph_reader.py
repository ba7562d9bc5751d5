"""Reads a file of RDF (Turtle, N-Triples, JSON-LD, RDF/XML) into a graph of canonical terms.

One file is one publication. Named graphs and statements about statements are refused; `owl:imports` is a
statement like any other, and nobody follows it. Blank nodes are numbered by what is said of them, so that
the same statements give the same numbers as far as that tells them apart.
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

CODES: Final = RdfCodes(doctype="D501", context="D502", tripped="D503", syntax="D506")


@dataclass(frozen=True, slots=True)
class ReadGraph:
    """A file's statements, and how many of its instants left their zone unsaid."""

    graph: Graph
    zoneless: int = 0


def read_graph_file(path: Path) -> ReadGraph:
    """Return the graph in a file; what is wrong with it raises `DocumentError`."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        message = f'the end of the name "{path.suffix}" says no format ({listed(list(FORMATS))})'
        raise DocumentError.of_file(str(path), "D506", message)
    return read_graph(read_document(path), str(path), format_)


def read_graph(content: bytes, file: str, format_: str) -> ReadGraph:
    """Return the graph in these bytes; what is wrong raises `DocumentError`."""
    try:
        read = read_rdf(content, file, format_, CODES)
    except DocumentError as error:
        raise _about_quoting(error, content, file) from None
    if read.named:
        message = f"named graphs are not read ({listed(read.named, 3)}); write one graph a file"
        raise DocumentError([Problem(file, *_place(read.text, read.named[0]), "error", "D505", message)])
    found = graph_of(read.graph, file, read.text)
    if not found.graph:
        raise DocumentError.of_file(file, "D506", "there is no statement in it")
    return found


def graph_of(triples: Iterable[tuple[Any, Any, Any]], file: str, text: str = "") -> ReadGraph:
    """Return statements of rdflib in canonical terms; what is no term raises `DocumentError`."""
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
    return ReadGraph(numbered(found), zoneless)


_FURTHEST: Final = 64
"""Steps from a node within which it is told apart from others."""


def numbered(triples: Iterable[Triple]) -> Graph:
    """Return a graph whose blank nodes are numbered from 0 by what is said of them; of those that nothing
    tells apart the one that came first goes first. What is said further away than `_FURTHEST` tells nobody
    apart: a long chain of nodes would take a round for each of them.
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
    """Yield what each statement about a node says of it, others being known by their colours alone."""
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
    """Return a statement; JSON-LD and N3 can write some that RDF does not have."""
    if isinstance(subject, Literal):
        raise TermError(f"a literal cannot be a subject: {written(subject)[:80]}; make it an object")
    if not isinstance(property_, Iri):
        raise TermError(f"a property is an IRI, not {written(property_)[:80]}")
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
    raise TermError(f"{type(node).__name__} is no term of a graph")


def properties_of(graph: Graph) -> frozenset[Iri]:
    """Return the properties that a graph states."""
    return frozenset(triple.property for triple in graph if isinstance(triple.property, Iri))


def _about_quoting(error: DocumentError, content: bytes, file: str) -> DocumentError:
    """Return a parser's refusal, in better words where statements about statements are what it met."""
    text = content.decode(errors="replace")
    if "<<" not in text or error.problems[0].code != CODES.syntax:
        return error
    message = "quoted triples (statements about statements) are not read; say it of a node"
    return DocumentError([Problem(file, *place_of(text, text.index("<<")), "error", "D505", message)])


def _place(text: str, word: str) -> tuple[int, int]:
    """Return line and column where a word stands first; RDF itself knows no lines."""
    at = text.find(word) if word else -1
    return place_of(text, at) if at >= 0 else (0, 0)
