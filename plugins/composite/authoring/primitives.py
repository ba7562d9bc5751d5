"""Primitives: conditions on single events, compiled by the language that they are written in.

The content of a primitive is a subscription of another language, which is used through its interface only. It
is passed as a separate document: the lines of the whole, with other content blanked, below one line that
opens it. So its problems have the right column, one line further down.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import quoteattr

from lxml import etree

from dens.config.problems import DocumentError, Problem, TextSpan
from knowledge_manager.vocabulary.event_class import EventClass
from plugins.authoring import Authoring, CompileOptions
from plugins.authoring.xml.reader import attempted
from plugins.authoring.xml.root_attributes import read_fifteenths
from plugins.authoring.xml.spans import Span
from plugins.authoring.xml.words import AuthorsWords
from plugins.board_parts import Constrained, also_carrying, constrained_by
from plugins.composite import NAMESPACE
from plugins.composite.authoring.problems import Complaints
from plugins.composite.bounds import MOST_KEYS, MOST_PRIMITIVES

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_AGES: Final = ("within-last",)
"""Elements by which primitives would test the age of an event."""


@dataclass(frozen=True, slots=True)
class ReadPrimitive:
    """A primitive: the body that its language compiled, including key attributes."""

    name: str
    event: EventClass
    body: bytes
    about: Constrained
    keys: tuple[int, ...]
    span: Span
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class PrimitiveReader:
    """Reads the primitives of one document."""

    atoms: Authoring
    atoms_namespace: str
    words: AuthorsWords
    complaints: Complaints
    options: CompileOptions

    def read(self) -> list[ReadPrimitive]:
        """Return the valid primitives. Errors of the others are reported."""
        document = self.complaints.document
        root = document.root
        elements = list(root.iterchildren(f"{{{NAMESPACE}}}primitive"))
        if len(elements) > MOST_PRIMITIVES:
            message = f"{len(elements)} primitives, at most {MOST_PRIMITIVES} are allowed"
            self.complaints.complain(document.span(elements[MOST_PRIMITIVES]), "D237", message)
            elements = elements[:MOST_PRIMITIVES]
        found: list[ReadPrimitive] = []
        keys = self._keys([self._event(element) for element in elements])
        for number, element in enumerate(elements):
            one = self._one(element, self._event(element, quietly=True), keys[number])
            found += [] if one is None else [one]
        return found

    def names(self) -> list[str]:
        """Return the names of all primitives, valid or not. Duplicates are reported."""
        document = self.complaints.document
        found: list[str] = []
        for element in document.root.iterchildren(f"{{{NAMESPACE}}}primitive"):
            name = str(element.get("name")).strip()
            if name in found or name in ("and", "or", "in"):
                taken = "has another meaning" if name not in found else "is taken already"
                span = document.attribute_span(element, "name")
                self.complaints.complain(span, "D250", f'the name "{name}" {taken}; choose another')
            found.append(name)
        return found

    def _event(self, element: "Element", *, quietly: bool = False) -> EventClass | None:
        span = self.complaints.document.attribute_span(element, "event")
        word = str(element.get("event")).strip()
        if quietly:
            silent = Complaints(self.complaints.document)
            return attempted(silent, span, self.words.event, word, span)
        return attempted(self.complaints, span, self.words.event, word, span)

    def _keys(self, events: list[EventClass | None]) -> list[tuple[int, ...]]:
        """Return, for each primitive, the attributes of the key, which have the same bytes in all classes."""
        document = self.complaints.document
        given = document.root.get("key")
        if given is None:
            return [()] * len(events)
        span = document.attribute_span(document.root, "key")
        wanted = given.split()
        if not 1 <= len(wanted) <= MOST_KEYS or len(set(wanted)) != len(wanted):
            message = f"a key has 1 to {MOST_KEYS} different attributes"
            self.complaints.complain(span, "D239", message)
            return [()] * len(events)
        found: list[list[int]] = [[] for _ in events]
        for word in wanted:
            first = None
            for place, event in enumerate(events):
                if event is None:
                    continue
                named = attempted(self.complaints, span, self.words.attribute, word, event, span)
                if named is None:
                    break
                attribute = named.attribute
                same = (
                    attribute.type,
                    attribute.lo_scaled,
                    attribute.hi_scaled,
                    attribute.inner,
                    attribute.values,
                )
                if first is None:
                    first = same
                elif first != same:
                    message = (
                        f"{word} has another domain in {event.name}: a key needs the same domain everywhere"
                    )
                    self.complaints.complain(span, "D239", message)
                    break
                found[place].append(attribute.index)
        return [tuple(indexes) for indexes in found]

    def _one(
        self, element: "Element", event: EventClass | None, keys: tuple[int, ...]
    ) -> ReadPrimitive | None:
        document = self.complaints.document
        count = len(self.complaints.problems)
        threshold = element.get("threshold")
        read_fifteenths(
            threshold, "threshold", document.attribute_span(element, "threshold"), self.complaints
        )
        for child in element.iterchildren(etree.Element):
            if etree.QName(child).localname in _AGES:
                message = "a primitive cannot test the age of an event; use the window of the composite"
                self.complaints.complain(document.span(child), "D241", message)
        if event is None or len(self.complaints.problems) > count:
            return None
        source = self._document(element, event, threshold)
        try:
            options = replace(self.options, stamp_s=0, strict=False)
            made = self.atoms.compile(source, document.file, self.words.table, options)
        except DocumentError as error:
            self.complaints.problems += list(self._moved(error.problems, element))
            return None
        width = self.words.table.feature_bytes
        body, about = made.body, constrained_by(made.body, width)
        if about.has_age:
            message = "a primitive cannot test the age of an event; use the window of the composite"
            self.complaints.complain(document.span(element), "D241", message)
            return None
        if keys and not about.needs_all:
            message = f"a key requires that every condition holds: min or product, not {about.aggregator}"
            self.complaints.complain(document.span(element), "D240", message)
            return None
        for index in keys:
            body = also_carrying(body, index, width)
        return ReadPrimitive(
            str(element.get("name")).strip(),
            event,
            body,
            constrained_by(body, width),
            keys,
            document.span(element),
            tuple(self._moved(made.warnings, element)),
        )

    def _document(self, element: "Element", event: EventClass, threshold: str | None) -> bytes:
        """Return a primitive as a document of its own language, one line further down."""
        document = self.complaints.document
        content = document.content_span(element)
        language = "" if document.language is None else f" xml:lang={quoteattr(document.language)}"
        least = "" if threshold is None else f" threshold={quoteattr(threshold.strip())}"
        prefixes = "".join(
            f" xmlns{'' if prefix is None else f':{prefix}'}={quoteattr(self._namespace(uri))}"
            for prefix, uri in element.nsmap.items()
        )
        own = next((prefix for prefix, uri in element.nsmap.items() if uri == NAMESPACE), None)
        tag = "subscription" if own is None else f"{own}:subscription"
        opening = f"<{tag}{prefixes} event={quoteattr(event.name)}{least}{language}>\n"
        blank = bytes(10 if byte == 10 else 32 for byte in document.source[: content.start])
        inside = document.source[content.start : content.end]
        return opening.encode() + blank + inside + f"</{tag}>".encode()

    def _namespace(self, uri: str) -> str:
        return self.atoms_namespace if uri == NAMESPACE else uri

    def _moved(self, problems: tuple[Problem, ...], element: "Element") -> Iterator[Problem]:
        """Yield the problems of a primitive, at their positions in the whole document."""
        whole = self.complaints.document.span(element)
        for problem in problems:
            if problem.line <= 1:
                yield replace(problem, line=whole.line, column=whole.column, span=whole.text, fixes=())
            else:
                fixes = tuple(replace(fix, span=_up(fix.span)) for fix in problem.fixes)
                span = None if problem.span is None else _up(problem.span)
                yield replace(problem, line=problem.line - 1, span=span, fixes=fixes)


def _up(span: TextSpan) -> TextSpan:
    return TextSpan(span.line - 1, span.column, span.end_line - 1, span.end_column)
