"""The one door through which RDF text comes in: Turtle, N-Triples, JSON-LD, RDF/XML.

Nothing is fetched and nothing is expanded: a DOCTYPE and a JSON-LD context by address are refused before a
parser sees them, and what trips a parser is a refusal like any other. Literals keep the text that stands in
the file.
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
"""How a file is read, by the end of its name."""

BASE: Final = "http://dens.invalid/"
"""Against which relative addresses are resolved; it leads nowhere."""


@dataclass(frozen=True, slots=True)
class RdfCodes:
    """With which codes a kind of document is refused."""

    doctype: str
    context: str
    tripped: str
    syntax: str


@dataclass(frozen=True, slots=True)
class RdfText:
    """A text, all its statements as rdflib's graph, and the names of the graphs that it puts some into."""

    text: str
    graph: Any
    named: tuple[str, ...] = ()


def read_rdf(content: bytes, file: str, format_: str, codes: RdfCodes) -> RdfText:
    """Return what a text says; what is wrong raises `DocumentError`."""
    text = decode_text(content, file)
    _refuse_what_would_fetch(text, file, format_, codes)
    return _parsed(text, file, format_, codes)


def _refuse_what_would_fetch(text: str, file: str, format_: str, codes: RdfCodes) -> None:
    if format_ == "xml" and "<!" in text and ("<!DOCTYPE" in text or "<!ENTITY" in text):
        line, column = place_of(text, text.index("<!DOCTYPE" if "<!DOCTYPE" in text else "<!ENTITY"))
        message = "a DOCTYPE is not read; write the addresses out"
        raise DocumentError([Problem(file, line, column, "error", codes.doctype, message)])
    if format_ != "json-ld":
        return
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"this is not JSON: {error.msg}"
        raise DocumentError(
            [Problem(file, error.lineno, error.colno, "error", codes.syntax, message)]
        ) from None
    except (RecursionError, ValueError):
        line, column, reason = _what_trips(text)
        message = f"this is not JSON: {reason}"
        raise DocumentError([Problem(file, line, column, "error", codes.tripped, message)]) from None
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
    is_json = format_ == "json-ld"  # the one that can name graphs
    try:
        with texts_kept():
            (dataset.default_graph if is_json else graph).parse(data=text, format=format_, publicID=BASE)
    except Exception as error:  # every parser of rdflib raises its own kinds
        line, column, reason = _what_trips(text) if _is_tripped(error) else _syntax_place(error)
        code = codes.tripped if _is_tripped(error) else codes.syntax
        message = f"this is no {format_}: {reason}"
        raise DocumentError([Problem(file, line, column, "error", code, message)]) from None
    named = [one for one in dataset.graphs() if one.identifier != dataset.default_graph.identifier]
    for one in (dataset.default_graph, *named):
        graph += one
    return RdfText(text, graph, tuple(sorted(str(one.identifier) for one in named)))


@contextlib.contextmanager
def texts_kept() -> Iterator[None]:
    """Have rdflib keep the spelling of literals, and not tell of each that does not fit its datatype."""
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
"""Nesting above which a parser that tripped is taken to have tripped over it."""
_LONG_NUMBER: Final = re.compile(r"[0-9]{1000,}")


def _is_tripped(error: Exception) -> bool:
    """Say whether a parser failed by itself instead of saying what is wrong."""
    trips = UnboundLocalError | RecursionError | TypeError | AttributeError | KeyError
    return isinstance(error, trips) or type(error) is ValueError


def _what_trips(text: str) -> tuple[int, int, str]:
    """Return where a text has what parsers trip over, and why; they do not tell."""
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
    return 0, 0, "its parts do not stand where they belong"


def _syntax_place(error: Exception) -> tuple[int, int, str]:
    if isinstance(error, IndexError):
        return 0, 0, "it ends before it is whole"
    if isinstance(error, SAXParseException):
        return error.getLineNumber() or 0, (error.getColumnNumber() or 0) + 1, error.getMessage()
    reason = str(getattr(error, "_why", "") or error).strip().splitlines()
    said = reason[0] if reason else type(error).__name__
    content, index = getattr(error, "_str", None), getattr(error, "_i", None)
    if isinstance(content, bytes) and isinstance(index, int):  # of rdflib's Turtle parser; its own line errs
        before = content[:index].decode(errors="replace")
        return (*place_of(before, len(before)), said)
    return 0, 0, said
