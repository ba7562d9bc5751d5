"""From a document, XML or SPARQL, to a draft: names are resolved, nothing is checked yet."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from lxml import etree

from dens.config.problems import Problem
from dens.config.reading import decode_text, place_of, refuse_large
from knowledge_manager.graphs.sparql_reader import (
    QueryTerm,
    SparqlPattern,
    SparqlRefused,
    read_sparql,
)
from plugins.authoring.constants import BadConstant
from plugins.authoring.xml.document import SubscriptionDocument, read_subscription
from plugins.authoring.xml.root_attributes import read_valid
from plugins.authoring.xml.spans import SourceMap, Span
from plugins.gtopss.authoring.draft import Draft, DraftConstraint, DraftEdge, Names
from plugins.gtopss.authoring.schema import SCHEMA
from plugins.gtopss.pattern import KINSHIPS, ORDERS

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

Made = TypeVar("Made")

DEFAULT_VALID_S: Final = 6 * 3600
"""The default lifetime: reports age fast."""

QUERY_SUFFIX: Final = ".rq"
_VALID_LINE: Final = re.compile(r"^[ \t]*#[ \t]*valid:[ \t]*(\S+)[ \t]*$", re.M)
_KINSHIP_WORDS: Final = frozenset(code.word for code in KINSHIPS)
_ORDER_WORDS: Final = frozenset(code.word for code in ORDERS)


@dataclass(slots=True)
class ReadDocument:
    """A parsed document: its draft, its lifetime, and the problems so far."""

    file: str
    whole: Span
    lifetime_q: int = 0
    draft: Draft = field(default_factory=Draft)
    problems: list[Problem] = field(default_factory=list)

    def complain(
        self, span: Span, code: str, message: str, word: str = "", meant: Iterable[str] = ()
    ) -> None:
        """Add an error; the message contains suggestions."""
        self.problems.append(Problem(self.file, span.line, span.column, "error", code, message, span.text))

    def warn(self, span: Span, code: str, message: str) -> None:
        self.problems.append(Problem(self.file, span.line, span.column, "warning", code, message, span.text))


def read_query(source: bytes, file: str, prefixes: Mapping[str, str]) -> ReadDocument:
    """Return the draft of a SPARQL file; a comment `# valid: PT6H` sets the lifetime."""
    refuse_large(source, file)
    text = decode_text(source, file)
    map_ = SourceMap(source)
    found = ReadDocument(file, map_.span(0, len(source)))
    said = _VALID_LINE.search(text)
    span = found.whole if said is None else _span_of(text, map_, said.start(1), said.end(1))
    found.lifetime_q = read_valid(None if said is None else said[1], span, found, DEFAULT_VALID_S)

    def place(offset: int) -> Span:
        return _span_of(text, map_, offset, offset)

    _take_query(text, prefixes, found, place)
    return found


def _span_of(text: str, map_: SourceMap, start: int, end: int) -> Span:
    return map_.span(len(text[:start].encode()), len(text[:end].encode()))


def read_document(source: bytes, file: str, prefixes: Mapping[str, str]) -> ReadDocument:
    """Return the draft of an XML document, or raise `DocumentError`."""
    document = read_subscription(source, file, SCHEMA)
    root = document.root
    found = ReadDocument(file, document.span(root), problems=list(document.problems))
    found.lifetime_q = read_valid(
        root.get("valid"), document.attribute_span(root, "valid"), found, DEFAULT_VALID_S
    )
    known = dict(prefixes)
    reader = _ElementReader(document, found, known)
    for element in root:
        reader.read(element)
    return found


class _ElementReader:
    """Reads the elements of a document."""

    def __init__(self, document: SubscriptionDocument, found: ReadDocument, prefixes: dict[str, str]) -> None:
        self._document = document
        self._found = found
        self._prefixes = prefixes
        self._own: set[str] = set()

    def read(self, element: "Element") -> None:
        """Add an element to the draft."""
        name = etree.QName(element).localname
        if name == "prefix":
            self._prefix(element)
        elif name == "edge":
            self._edge(element)
        elif name == "where":
            self._where(element)
        else:
            self._query(element)

    def _prefix(self, element: "Element") -> None:
        prefix = str(element.get("name")).strip()
        if prefix in self._own:
            span = self._document.attribute_span(element, "name")
            self._found.complain(span, "D516", f'prefix "{prefix}" is given twice')
        self._own.add(prefix)
        span = self._document.attribute_span(element, "iri")
        whole = self._attempt(span, partial(Names({}).name, str(element.get("iri"))))
        if whole is not None:
            self._prefixes[prefix] = whole.text

    def _edge(self, element: "Element") -> None:
        names, document = Names(self._prefixes), self._document
        spans = {name: document.attribute_span(element, name) for name in ("subject", "property", "object")}
        datatype, language = element.get("datatype"), element.get("language")
        subject = self._attempt(
            spans["subject"], partial(names.wanted, str(element.get("subject")), None, None)
        )
        property_ = self._attempt(spans["property"], partial(names.name, str(element.get("property"))))
        object_ = self._attempt(
            spans["object"],
            partial(names.wanted, str(element.get("object")), _text(datatype), _text(language)),
        )
        if subject is not None and property_ is not None and object_ is not None:
            self._found.draft.edges.append(DraftEdge(subject, property_, object_, document.span(element)))

    def _where(self, element: "Element") -> None:
        names, document = Names(self._prefixes), self._document
        operator, text = str(element.get("operator")).strip(), str(element.text or "")
        datatype, language = _text(element.get("datatype")), _text(element.get("language"))
        variable = self._attempt(
            document.attribute_span(element, "variable"),
            partial(names.variable, str(element.get("variable"))),
        )
        read: Callable[[], QueryTerm]
        if operator == "differs":
            read = partial(names.variable, text)
        elif operator in _KINSHIP_WORDS:
            read = partial(names.name, text)
        elif datatype is not None or language is not None:
            read = partial(names.literal, text, datatype, language)
        else:
            guess: Callable[[str], QueryTerm] = names.guessed if operator in _ORDER_WORDS else names.name
            read = partial(guess, text)
        operand = self._attempt(document.text_span(element), read)
        if variable is not None and operand is not None:
            self._found.draft.constraints.append(
                DraftConstraint(variable, operator, operand, document.span(element))
            )

    def _query(self, element: "Element") -> None:
        text, span = str(element.text or ""), self._document.text_span(element)
        begin = len(text) - len(text.lstrip())
        is_raw = b"<![CDATA[" in self._document.source[span.start - 9 : span.end]

        def place(offset: int) -> Span:
            line, column = place_of(text[begin:], max(offset - begin, 0))
            before = text[begin:][: max(offset - begin, 0)].rpartition("\n")[2]
            shift = 0 if is_raw else sum({"&": 4, "<": 3}.get(sign, 0) for sign in before)
            column += shift + (span.column - 1 if line == 1 else 0)
            return Span(span.start, span.end, span.line + line - 1, column, span.end_line, span.end_column)

        _take_query(text, self._prefixes, self._found, place)

    def _attempt(self, span: Span, read: Callable[[], Made]) -> Made | None:
        try:
            return read()
        except BadConstant as error:
            fixes = self._document.replaced(span, error.word, error.meant)
            self._found.problems.append(self._document.problem(span, error.code, str(error), fixes))
            return None


def _text(given: object) -> str | None:
    return None if given is None else str(given)


def _take_query(
    text: str, prefixes: Mapping[str, str], found: ReadDocument, place: Callable[[int], Span]
) -> None:
    """Add a query to the draft, each part with its position."""
    try:
        asked: SparqlPattern = read_sparql(text, prefixes)
    except SparqlRefused as refused:
        for problem in refused.problems:
            found.complain(place(problem.offset), problem.code, problem.message)
        return
    for edge in asked.edges:
        span = place(edge.offset)
        found.draft.edges.append(DraftEdge(edge.subject, edge.property, edge.object, span))
    for one in asked.constraints:
        span = place(one.offset)
        found.draft.constraints.append(DraftConstraint(one.variable, one.operator, one.operand, span))
