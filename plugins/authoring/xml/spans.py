"""Positions in a document: every element, start tag, attribute and text, found by one pass of expat.

lxml has lines but no columns. Expat reports the byte at which each tag begins; everything else is found from
there in the source. Elements are numbered in document order, as in lxml.
"""

import re
from dataclasses import dataclass
from xml.parsers import expat

from dens.config.problems import TextSpan

DEEPEST_NESTING = 64

_ATTRIBUTE = re.compile(rb"[^\s=<]+\s*=\s*(?P<quote>[\"'])(?P<value>.*)(?P=quote)", re.S)
_START_TAG = re.compile(rb"<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the source: bytes [start, end), and its lines and columns, from 1."""

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def text(self) -> TextSpan:
        return TextSpan(self.line, self.column, self.end_line, self.end_column)


@dataclass(frozen=True, slots=True)
class ElementBytes:
    """Byte positions of one element: its start tag [start, opened), and all of it [start, end)."""

    start: int
    opened: int
    end: int


class Refused(Exception):
    """The document contains something that is never read: a DOCTYPE, or elements nested too deeply."""

    def __init__(self, code: str, at: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.at = at
        self.message = message


def element_bytes(source: bytes) -> list[ElementBytes]:
    """Return the bytes of every element in document order.

    A DOCTYPE and too deep nesting raise `Refused` where they begin, before they are parsed. A document that
    is not well-formed raises `expat.ExpatError`.
    """
    parser = expat.ParserCreate("UTF-8")
    starts: list[int] = []
    opened: list[int] = []
    ends: list[int] = []
    open_elements: list[int] = []

    def start_doctype(*_: object) -> None:
        at = source.rfind(b"<!DOCTYPE", 0, parser.CurrentByteIndex + 9)
        raise Refused("D007", max(at, 0), "a DOCTYPE is not allowed; remove it")

    def start_element(_name: str, _attributes: object) -> None:
        at = parser.CurrentByteIndex
        if len(open_elements) == DEEPEST_NESTING:
            message = f"elements are nested more than {DEEPEST_NESTING} deep"
            raise Refused("D008", at, message)
        tag = _START_TAG.match(source, at)
        open_elements.append(len(starts))
        starts.append(at)
        opened.append(tag.end() if tag else at)
        ends.append(at)

    def end_element(_name: str) -> None:
        number = open_elements.pop()
        closing = source.find(b">", parser.CurrentByteIndex) + 1
        ends[number] = max(closing, opened[number])

    parser.StartDoctypeDeclHandler = start_doctype
    parser.StartElementHandler = start_element
    parser.EndElementHandler = end_element
    parser.Parse(source, True)
    return [ElementBytes(*places) for places in zip(starts, opened, ends, strict=True)]


class SourceMap:
    """Converts bytes of a source into spans."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._line_starts = [0, *(found.end() for found in re.finditer(b"\n", source))]

    def place(self, at: int) -> tuple[int, int]:
        """Return (line, column), both from 1, of a byte; columns count characters."""
        line = self.source.count(b"\n", 0, at)
        start = self._line_starts[line]
        return line + 1, len(self.source[start:at].decode("utf-8", "replace")) + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span of the bytes [start, end)."""
        return Span(start, end, *self.place(start), *self.place(end))

    def attribute_span(self, element: ElementBytes, name: str) -> Span:
        """Return the span of `name="value"` in an element's start tag, or of the tag if it is missing."""
        quoted = re.escape(name.encode())
        pattern = re.compile(rb"(?<=\s)" + quoted + rb"\s*=\s*(?:\"[^\"]*\"|'[^']*')")
        found = pattern.search(self.source, element.start, element.opened)
        if found is None:
            return self.span(element.start, element.opened)
        return self.span(found.start(), found.end())

    def word_span(self, span: Span, word: str) -> Span | None:
        """Return the position of a word that is the complete text or attribute of a span; None if it is not,
        or if it contains references.
        """
        whole = self.source[span.start : span.end]
        attribute = _ATTRIBUTE.fullmatch(whole)
        begin = 0 if attribute is None else attribute.start("value")
        text = whole if attribute is None else attribute["value"]
        if text.strip() != word.encode() or not word:
            return None
        start = span.start + begin + len(text) - len(text.lstrip())
        return self.span(start, start + len(text.strip()))

    def text_span(self, element: ElementBytes) -> Span:
        """Return the span of the stripped text after an element's start tag."""
        end = self.source.find(b"<", element.opened, element.end)
        text = self.source[element.opened : end]
        if end < 0 or not text.strip():
            return self.span(element.start, element.opened)
        start = element.opened + len(text) - len(text.lstrip())
        return self.span(start, start + len(text.strip()))
