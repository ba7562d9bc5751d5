"""Shared state of all element readers: the document, the event class, and the list of problems."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from dens.config.problems import Problem
from knowledge_manager.lookup.lookup import ResolvedAttribute
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring.constants import BadConstant, plain_number
from plugins.authoring.xml.document import SubscriptionDocument
from plugins.authoring.xml.spans import Span
from plugins.authoring.xml.words import AuthorsWords

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")


class Complains(Protocol):
    """Collects errors while reading continues."""

    def complain(
        self, span: Span, code: str, message: str, word: str = "", meant: Iterable[str] = ()
    ) -> None:
        """Add an error. `meant` are suggested replacements of the word."""
        ...


def attempted(
    complaints: Complains,
    span: Span,
    read: Callable[Arguments, Value],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Value | None:
    """Return `read()`, or report why it fails and return None."""
    try:
        return read(*args, **kwargs)
    except BadConstant as error:
        complaints.complain(span, error.code, str(error), error.word, error.meant)
        return None


@dataclass(slots=True)
class PredicateReader:
    """Reads the predicates of one document. Errors are collected, so that all are reported."""

    document: SubscriptionDocument
    event: EventClass
    age_index: int
    words: AuthorsWords
    problems: list[Problem] = field(default_factory=list)

    def complain(
        self, span: Span, code: str, message: str, word: str = "", meant: Iterable[str] = ()
    ) -> None:
        fixes = self.document.replaced(span, word, meant)
        self.problems.append(self.document.problem(span, code, message, fixes))

    def warn(self, span: Span, code: str, message: str) -> None:
        self.problems.append(self.document.warning(span, code, message))

    def attempt(
        self, span: Span, read: Callable[Arguments, Value], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Value | None:
        return attempted(self, span, read, *args, **kwargs)

    def attribute(self, element: "Element") -> ResolvedAttribute | None:
        """Return the attribute that a predicate names, or report that it is unknown."""
        span = self.document.attribute_span(element, "attribute")
        word = str(element.get("attribute")).strip()
        return self.attempt(span, self.words.attribute, word, self.event, span)

    def term(
        self, word: str, attribute: Attribute, defined: Collection[str], holder: "Element", of: str = ""
    ) -> str | None:
        """Return the term that a word names, or report that it is unknown.

        `of` is the hedged term that refers to it, if there is one.
        """
        span = self.document.text_span(holder)
        return self.attempt(span, self.words.term, word, self.event, attribute, defined, span, of)

    def value(self, span: Span, text: str, attribute: Attribute) -> str | None:
        """Return the value of the nominal attribute that a word names, or report that it is unknown."""
        return self.attempt(span, self.words.value, text.strip(), self.event, attribute, span)

    def weight(self, element: "Element") -> float:
        """Return the weight of a predicate, by default 1."""
        text = element.get("weight")
        if text is None:
            return 1.0
        span = self.document.attribute_span(element, "weight")
        weight = self.attempt(span, plain_number, text)
        if weight is not None and weight < 0:
            self.complain(span, "D125", f"weight {weight:g} is negative")
        return weight or 0.0


def own_text(element: "Element") -> str:
    """Return the stripped text of an element without that of its children."""
    return "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
