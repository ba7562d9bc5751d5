"""Steps from a document to a body that all XML languages share: the event class, problems, rounding."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dens.config.problems import DocumentError, Problem
from knowledge_manager.durations import duration_s, written_duration
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.constants import BadConstant
from plugins.authoring.xml.document import SubscriptionDocument
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.words import AuthorsWords
from watchdog.lifetime import LONGEST_LIFETIME_S, lifetime_code, lifetime_s

if TYPE_CHECKING:
    from knowledge_manager.thesaurus.thesaurus import Thesaurus


def reader_of(
    document: SubscriptionDocument, table: MissionTable, thesaurus: "Thesaurus | None"
) -> PredicateReader:
    """Return a reader of a document about the event class of its root element. An unknown one raises
    `DocumentError`. Words that are not in the table are looked up in the thesaurus, by default the shipped
    one.
    """
    words = AuthorsWords(table, document.language, thesaurus)
    span = document.attribute_span(document.root, "event")
    try:
        event = words.event(str(document.root.get("event")).strip(), span)
    except BadConstant as error:
        fixes = document.replaced(span, error.word, error.meant)
        problem = document.problem(span, error.code, str(error), fixes)
        raise DocumentError([*document.problems, problem]) from None
    return PredicateReader(document, event, table.age_index, words)


def has_errors(problems: Iterable[Problem]) -> bool:
    """Return whether there is an error among the problems."""
    return any(problem.severity == "error" for problem in problems)


def refuse_problems(reader: PredicateReader, *, strict: bool = False) -> None:
    """Raise the errors of a document, or with `strict` also its warnings. A warning about an `xml:lang`
    without any known word comes first.
    """
    document = reader.document
    if unspoken := reader.words.unspoken_language():
        reader.warn(document.attribute_span(document.root, "event"), "D159", unspoken)
    refuse(reader.problems, document, strict=strict)


def refuse(problems: Iterable[Problem], document: SubscriptionDocument, *, strict: bool = False) -> None:
    """Raise problems, together with the mistyped names of the document, if there is an error, or with
    `strict` a warning.
    """
    found = [*document.problems, *problems]
    if has_errors(found) or (strict and any(problem.severity == "warning" for problem in found)):
        raise DocumentError(found)


def rounded_lifetime(document: SubscriptionDocument, code: int) -> Iterator[str]:
    """Yield how an encoded lifetime differs from the document: it is a power of two and has a maximum."""
    text = document.root.get("valid")
    seconds = None if text is None else duration_s(text)
    if seconds is not None and seconds != lifetime_s(code):
        yield f"valid {str(text).strip()} is rounded up to {written_duration(lifetime_s(code))}"
    longest = lifetime_code(LONGEST_LIFETIME_S)
    if code > longest:
        lives = written_duration(LONGEST_LIFETIME_S)
        yield f"valid {str(text).strip()} lives {lives}, as every code from {longest} on"
