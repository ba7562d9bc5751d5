"""Parses all RDF input: Turtle, N-Triples, JSON-LD, RDF/XML.

Nothing is fetched or expanded: a DOCTYPE and a JSON-LD context given by address are rejected before parsing.
A parser that crashes is reported as a problem of the file. Literals keep their spelling.
"""

import contextlib
import json
import logging
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from xml.sax import SAXParseException

from dens.config.problems import DocumentError, Problem
from dens.config.reading import decode_text, place_of

FORMATS: Final = {".ttl": "turtle", ".nt": "nt", ".jsonld": "json-ld", ".rdf": "xml"}
"""rdflib's format name by file suffix."""

BASE: Final = "http://dens.invalid/"
"""Base IRI for relative IRIs. The domain does not exist."""


@dataclass(frozen=True, slots=True)
class RdfCodes:
    """The error codes for one kind of document."""

    doctype: str
    context: str
    crash: str
    syntax: str


@dataclass(frozen=True, slots=True)
class RdfText:
    """A text, its statements as an rdflib graph, and the names of the named graphs in it."""

    text: str
    graph: Any
    named: tuple[str, ...] = ()


def read_rdf(content: bytes, file: str, format_: str, codes: RdfCodes) -> RdfText:
    """Return the parsed text; invalid input raises `DocumentError`."""
    text = decode_text(content, file)
    _reject_external_references(text, file, format_, codes)
    return _parsed(text, file, format_, codes)


def _reject_external_references(text: str, file: str, format_: str, codes: RdfCodes) -> None:
    if format_ == "xml" and "<!" in text and ("<!DOCTYPE" in text or "<!ENTITY" in text):
        line, column = place_of(text, text.index("<!DOCTYPE" if "<!DOCTYPE" in text else "<!ENTITY"))
        message = "DOCTYPE is not supported; write the addresses out"
        raise DocumentError([Problem(file, line, column, "error", codes.doctype, message)])
    if format_ != "json-ld":
        return
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"invalid JSON: {error.msg}"
        raise DocumentError(
            [Problem(file, error.lineno, error.colno, "error", codes.syntax, message)]
        ) from None
    except (RecursionError, ValueError):
        line, column, reason = _crash_cause(text)
        message = f"invalid JSON: {reason}"
        raise DocumentError([Problem(file, line, column, "error", codes.crash, message)]) from None
    for address in _addresses_of_contexts(document):
        at = max(text.find(json.dumps(address)), 0)
        line, column = place_of(text, at)
        message = f'the context "{address}" is not fetched; write the context into the file'
        raise DocumentError([Problem(file, line, column, "error", codes.context, message)])


def _addresses_of_contexts(document: Any) -> Iterator[str]:
    waiting = [document]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            for key, inner in part.items():
                if key in ("@context", "@import"):
                    contexts = inner if isinstance(inner, list) else [inner]
                    yield from (context for context in contexts if isinstance(context, str))
                waiting.append(inner)


def _parsed(text: str, file: str, format_: str, codes: RdfCodes) -> RdfText:
    import rdflib

    graph, dataset = rdflib.Graph(), rdflib.Dataset()
    is_json = format_ == "json-ld"  # the only format with named graphs
    try:
        with literals_unnormalised():
            (dataset.default_graph if is_json else graph).parse(data=text, format=format_, publicID=BASE)
    except Exception as error:  # every parser of rdflib raises its own kinds
        line, column, reason = _crash_cause(text) if _is_parser_crash(error) else _syntax_place(error)
        code = codes.crash if _is_parser_crash(error) else codes.syntax
        message = f"invalid {format_}: {reason}"
        raise DocumentError([Problem(file, line, column, "error", code, message)]) from None
    named = [one for one in dataset.graphs() if one.identifier != dataset.default_graph.identifier]
    for one in (dataset.default_graph, *named):
        graph += one
    return RdfText(text, graph, tuple(sorted(str(one.identifier) for one in named)))


@contextlib.contextmanager
def literals_unnormalised() -> Iterator[None]:
    """Have rdflib keep the spelling of literals, without a warning for each that does not fit its
    datatype.
    """
    import rdflib

    log = logging.getLogger("rdflib.term")
    before, level = rdflib.NORMALIZE_LITERALS, log.level
    rdflib.NORMALIZE_LITERALS = False
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():  # its JSON-LD parser uses what it calls deprecated itself
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        rdflib.NORMALIZE_LITERALS = before
        log.setLevel(level)


_DEEPEST: Final = 64
"""Nesting from which a parser crash is attributed to nesting."""
_LONG_NUMBER: Final = re.compile(r"[0-9]{1000,}")


def _is_parser_crash(error: Exception) -> bool:
    """Return whether a parser crashed instead of reporting a syntax error."""
    trips = UnboundLocalError | RecursionError | TypeError | AttributeError | KeyError
    return isinstance(error, trips) or type(error) is ValueError


def _crash_cause(text: str) -> tuple[int, int, str]:
    """Return line, column and reason of what probably crashed the parser, which does not report it."""
    number = _LONG_NUMBER.search(text)
    if number is not None:
        return (*place_of(text, number.start()), f"a number of {len(number.group()):,} digits is too long")
    deep, deepest, at = 0, 0, 0
    for place, sign in enumerate(text):
        deep += (sign in "[({") - (sign in "])}")
        if deep > deepest:
            deepest = deep
            at = place if deep == _DEEPEST else at
    if deepest >= _DEEPEST:
        return (*place_of(text, at), f"brackets are nested {deepest:,} deep; give inner nodes names")
    return 0, 0, "its structure is invalid"


def _syntax_place(error: Exception) -> tuple[int, int, str]:
    if isinstance(error, IndexError):
        return 0, 0, "unexpected end of file"
    if isinstance(error, SAXParseException):
        return error.getLineNumber() or 0, (error.getColumnNumber() or 0) + 1, error.getMessage()
    reason = str(getattr(error, "_why", "") or error).strip().splitlines()
    text = reason[0] if reason else type(error).__name__
    content, index = getattr(error, "_str", None), getattr(error, "_i", None)
    if isinstance(content, bytes) and isinstance(index, int):  # of rdflib's Turtle parser; its own line errs
        before = content[:index].decode(errors="replace")
        return (*place_of(before, len(before)), text)
    return 0, 0, text
