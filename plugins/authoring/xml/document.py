"""Step 1: bytes → document. Reads a subscription safely and validates it against the schema.

Nothing outside the file is read: entities, DTDs, network and huge trees are off. A DOCTYPE is refused before
it is parsed, and so is a file that is larger than 64 kB, nested too deeply or not UTF-8.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING
from xml.parsers import expat
from xml.sax.saxutils import escape

from lxml import etree

from dens.config.problems import DocumentError, Fix, Problem, did_you_mean, likely_meant
from dens.config.reading import decode_text, refuse_large
from knowledge_manager.xml_parser import parse_xml
from plugins.authoring.xml.schema import DocumentSchema
from plugins.authoring.xml.schema_problems import schema_problems
from plugins.authoring.xml.spans import ElementBytes, Refused, SourceMap, Span, element_bytes

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_XML_ATTRIBUTE = "{http://www.w3.org/XML/1998/namespace}"
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_DECLARED_ENCODING = re.compile(rb"^<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']*)[\"']")


class SubscriptionDocument:
    """A subscription document: its elements, and their positions in the file.

    `problems` are mistyped names that were corrected in the tree so that checking can continue. A document
    with problems must not be compiled.
    """

    def __init__(self, source: bytes, file: str) -> None:
        self.source = source
        self.file = file
        self._map = SourceMap(source)
        places = self._places()
        self.problems: list[Problem] = []
        self.root = self._tree()
        self._places_of = dict(zip(self.root.iter(etree.Element), places, strict=True))

    @property
    def namespace(self) -> str:
        """Return the namespace of the root element, which identifies the language."""
        return etree.QName(self.root).namespace or ""

    @property
    def language(self) -> str | None:
        """Return `xml:lang`, or None for any language."""
        return str(self.root.get(f"{_XML_ATTRIBUTE}lang", "")).strip() or None

    def span(self, element: "Element") -> Span:
        place = self._places_of[element]
        return self._map.span(place.start, place.end)

    def attribute_span(self, element: "Element", name: str) -> Span:
        """Return the span of an attribute, or of the start tag if it is missing."""
        return self._map.attribute_span(self._places_of[element], name)

    def text_span(self, element: "Element") -> Span:
        return self._map.text_span(self._places_of[element])

    def content_span(self, element: "Element") -> Span:
        """Return the span of everything between the element's tags."""
        place = self._places_of[element]
        end = self.source.rfind(b"</", place.opened, place.end)
        return self._map.span(place.opened, place.opened if end < 0 else end)

    def span_of_bytes(self, start: int, end: int) -> Span:
        """Return the span of the bytes [start, end) of the source."""
        return self._map.span(start, end)

    def problem(self, span: Span, code: str, message: str, fixes: tuple[Fix, ...] = ()) -> Problem:
        return Problem(self.file, span.line, span.column, "error", code, message, span.text, fixes)

    def warning(self, span: Span, code: str, message: str) -> Problem:
        return Problem(self.file, span.line, span.column, "warning", code, message, span.text)

    def note(self, span: Span, code: str, message: str) -> Problem:
        """Return a note, which requires no action."""
        return Problem(self.file, span.line, span.column, "note", code, message, span.text)

    def replaced(self, span: Span, word: str, meant: Iterable[str]) -> tuple[Fix, ...]:
        """Return the fix that replaces a word, which is the complete text or attribute at the span; none if
        its position is uncertain.
        """
        place = self._map.word_span(span, word)
        if place is None:
            return ()
        escaped = [escape(text, {'"': "&quot;", "'": "&apos;"}) for text in meant]
        return tuple(Fix(f"write {text}", text, place.text) for text in escaped)

    def attribute_renamed(self, element: "Element", name: str, meant: Iterable[str]) -> tuple[Fix, ...]:
        """Return the fix that renames an attribute; none if the new name exists already."""
        start = self.attribute_span(element, name).start
        end = start + len(name.encode())
        if self.source[start:end] != name.encode():
            return ()
        span = self._map.span(start, end).text
        return tuple(Fix(f"write {text}", text, span) for text in meant if text not in element.attrib)

    def element_renamed(self, element: "Element", name: str, meant: str) -> tuple[Fix, ...]:
        """Return the fix that renames an element in its start and end tags; none if its name has a prefix."""
        place = self._places_of[element]
        written = self.source[place.start : place.end].decode()
        called = re.escape(name)
        found = re.fullmatch(rf"<{called}(?=[\s/>])(.*?)(?:(</){called}(\s*>))?", written, re.S)
        if found is None or (found[2] is None and not written.endswith("/>")):
            return ()
        ending = "" if found[2] is None else f"</{meant}{found[3]}"
        return (Fix(f"write <{meant}>", f"<{meant}{found[1]}{ending}", self.span(element).text),)

    def _places(self) -> list[ElementBytes]:
        try:
            return element_bytes(self.source)
        except Refused as refusal:
            raise self._error(*self._map.place(refusal.at), refusal.code, refusal.message) from None
        except expat.ExpatError as error:
            message = expat.errors.messages[error.code]
            raise self._not_well_formed(error.lineno, error.offset + 1, message) from None

    def _tree(self) -> "Element":
        try:
            return parse_xml(self.source)
        except etree.XMLSyntaxError as error:
            line, column = error.position
            reason = (error.msg or "unreadable").removesuffix(f", line {line}, column {column}")
            raise self._error(line, column, "D006", f"not XML: {reason}") from None

    def _not_well_formed(self, line: int, column: int, message: str) -> DocumentError:
        """Prefer lxml's message, which is more detailed, if it fails too."""
        try:
            self._tree()
        except DocumentError as error:
            return error
        return self._error(line, column, "D006", f"not XML: {message}")

    def _error(self, line: int, column: int, code: str, message: str) -> DocumentError:
        return DocumentError([Problem(self.file, max(line, 1), max(column, 1), "error", code, message)])


def read_xml(source: bytes, file: str) -> SubscriptionDocument:
    """Return a well-formed and safe document of any language, or raise `DocumentError`."""
    refuse_large(source, file)
    decode_text(source, file)
    declared = _DECLARED_ENCODING.search(source.removeprefix(b"\xef\xbb\xbf"))
    if declared is not None and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii"):
        name = declared[1].decode("utf-8", "replace")
        message = f'encoding "{name}" is declared; save the file as UTF-8 and declare UTF-8 or nothing'
        raise DocumentError([Problem(file, 1, 1, "error", "D009", message)])
    return SubscriptionDocument(source, file)


def read_subscription(
    source: bytes, file: str, schema: DocumentSchema, element: str = "subscription"
) -> SubscriptionDocument:
    """Return the document if it is valid by the schema; all errors raise one `DocumentError`.

    If only names are mistyped, the corrected document is returned, with its problems.
    """
    document = read_xml(source, file)
    if etree.QName(document.root).localname != element or document.namespace != schema.namespace:
        raise no_subscription(document, schema.namespace, element=element)
    document.problems, is_valid = schema_problems(schema, document)
    if not is_valid:
        raise DocumentError(document.problems)
    if problems := list(_language_problems(document)):
        raise DocumentError([*document.problems, *problems])
    return document


def no_subscription(
    document: SubscriptionDocument,
    namespace: str,
    others: Mapping[str, str] = MappingProxyType({}),
    *,
    element: str = "subscription",
) -> DocumentError:
    """Return the error for a document with another root element; `others` are namespaces of other languages,
    with their names.
    """
    root = etree.QName(document.root)
    found = f"<{root.localname}>" + (f" of {root.namespace}" if root.namespace else " without a namespace")
    message = f'the document is a {found}, not a <{element} xmlns="{namespace}">'
    if others:
        listed = ", ".join(f"{other} ({name})" for other, name in others.items())
        message = f"{message}; other languages: {listed}"
    return DocumentError([document.problem(document.span(document.root), "D010", message)])


def _language_problems(document: SubscriptionDocument) -> Iterator[Problem]:
    """Yield what the schema cannot check: `xml:lang` is a language tag, and the only xml: attribute."""
    for attribute in map(str, document.root.attrib):
        if attribute.startswith(_XML_ATTRIBUTE) and attribute != f"{_XML_ATTRIBUTE}lang":
            name = attribute.replace(_XML_ATTRIBUTE, "xml:")
            message = f'<subscription> has no attribute "{name}"{did_you_mean(name, ["xml:lang"])}'
            fixes: tuple[Fix, ...] = ()
            if f"{_XML_ATTRIBUTE}lang" not in document.root.attrib:
                fixes = document.attribute_renamed(document.root, name, likely_meant(name, ["xml:lang"]))
            yield document.problem(document.attribute_span(document.root, name), "D111", message, fixes)
    language = document.language
    if language is not None and _LANGUAGE_TAG.fullmatch(language) is None:
        message = f'attribute "xml:lang": "{language[:40]}" is not a language tag such as en, no or bg'
        yield document.problem(document.attribute_span(document.root, "xml:lang"), "D113", message)
