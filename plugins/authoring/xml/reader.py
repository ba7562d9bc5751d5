"""What every reader of a tag is given: the document, the mission table's event class, and a place for
complaints.
"""

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
    """Notes what is wrong while reading goes on."""

    def complain(
        self, span: Span, code: str, message: str, word: str = "", meant: Iterable[str] = ()
    ) -> None:
        """Note an error at this place; `meant` is what may be written there in the place of the word."""
        ...


def attempted(
    complaints: Complains,
    span: Span,
    read: Callable[Arguments, Value],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Value | None:
    """Return what `read` makes of the arguments, or note why it cannot and return None."""
    try:
        return read(*args, **kwargs)
    except BadConstant as error:
        complaints.complain(span, error.code, str(error), error.word, error.meant)
        return None


@dataclass(slots=True)
class PredicateReader:
    """Reads predicates of one document. Whatever is wrong is noted and reading goes on, so that all is
    reported.
    """

    document: SubscriptionDocument
    event: EventClass
    age_index: int
    words: AuthorsWords
    problems: list[Problem] = field(default_factory=list)

    def complain(
        self, span: Span, code: str, message: str, word: str = "", meant: Iterable[str] = ()
    ) -> None:
        """Note an error at this place; `meant` is what may be written there in the place of the word."""
        fixes = self.document.replaced(span, word, meant)
        self.problems.append(self.document.problem(span, code, message, fixes))

    def warn(self, span: Span, code: str, message: str) -> None:
        """Note a warning at this place."""
        self.problems.append(self.document.warning(span, code, message))

    def attempt(
        self, span: Span, read: Callable[Arguments, Value], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Value | None:
        """Return what `read` makes of the arguments, or note why it cannot and return None."""
        return attempted(self, span, read, *args, **kwargs)

    def attribute(self, element: "Element") -> ResolvedAttribute | None:
        """Return the attribute that a predicate names in its `attribute`, or note that there is none."""
        span = self.document.attribute_span(element, "attribute")
        word = str(element.get("attribute")).strip()
        return self.attempt(span, self.words.attribute, word, self.event, span)

    def term(
        self, word: str, attribute: Attribute, defined: Collection[str], holder: "Element", of: str = ""
    ) -> str | None:
        """Return the name of the term that a word in an element means, or note that there is none.

        `of` is the hedged term that leans on it, where one does.
        """
        span = self.document.text_span(holder)
        return self.attempt(span, self.words.term, word, self.event, attribute, defined, span, of)

    def value(self, span: Span, text: str, attribute: Attribute) -> str | None:
        """Return the nominal attribute's value that a word means, or note that there is none."""
        return self.attempt(span, self.words.value, text.strip(), self.event, attribute, span)

    def weight(self, element: "Element") -> float:
        """Return the weight of a predicate, 1 unless it says otherwise."""
        text = element.get("weight")
        if text is None:
            return 1.0
        span = self.document.attribute_span(element, "weight")
        weight = self.attempt(span, plain_number, text)
        if weight is not None and weight < 0:
            self.complain(span, "D125", f"weight {weight:g} is negative")
        return weight or 0.0


def own_text(element: "Element") -> str:
    """Return the text of an element without that of its children, blanks around it left out."""
    return "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
