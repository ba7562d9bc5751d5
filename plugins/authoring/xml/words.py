"""Resolves words of a document to names of the mission table, directly or through a thesaurus.

Names of the table take precedence; the shipped thesaurus is loaded when the first other word is found. An
ambiguous word is refused with its candidates.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dens.config.problems import did_you_mean, likely_meant, listed
from knowledge_manager.lookup.lookup import (
    AmbiguousWord,
    Meaning,
    ResolvedAttribute,
    UnitMismatch,
    UnknownWord,
    resolve_attribute,
    resolve_event,
    resolve_term,
    resolve_value,
)
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.concept import language_matches
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring.constants import BadConstant
from plugins.authoring.xml.spans import Span

if TYPE_CHECKING:
    from knowledge_manager.thesaurus.thesaurus import Thesaurus

SHIPPED: Final = "rescue"
"""The default thesaurus."""

_AMBIGUOUS: Final = "D128"

_LONGEST_WORD: Final = 80
"""Characters, as in the schema. Longer words are unknown and are not repeated in full."""

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class ResolvedWord:
    """A word of the document and its meaning, which is None if the document itself defines the word."""

    word: str
    span: Span
    meaning: Meaning | None

    def as_document(self) -> dict[str, Any]:
        place = {"word": self.word, "line": self.span.line, "column": self.span.column}
        if self.meaning is None:
            return {**place, "kind": "term", "name": self.word, "how": "defined in this subscription"}
        return {**place, **self.meaning.as_document()}


@dataclass(slots=True)
class AuthorsWords:
    """Resolves the words of one document in its language, and records how.

    An unknown word raises `BadConstant` with the code of its kind.
    """

    table: MissionTable
    language: str | None = None
    given: "Thesaurus | None" = None
    resolved: list[ResolvedWord] = field(default_factory=list)
    consulted: "Thesaurus | None" = None
    """The thesaurus, once a word was looked up."""

    def unspoken_language(self) -> str:
        """Return why the document's language did not help with any word; empty if it may have."""
        if self.language is None or self.consulted is None:
            return ""
        spoken = self.consulted.languages
        if any(language_matches(tag, self.language) for tag in spoken):
            return ""
        return f'the thesaurus has no word in "{self.language}"; words of {listed(spoken)} were taken'

    def event(self, word: str, span: Span) -> EventClass:
        """Return the event class that a word names."""
        names = [event.name for event in self.table.events]
        meaning = self._attempt(
            "D101",
            f'event class "{word}" is unknown',
            names,
            word,
            lambda: resolve_event(word, self.table, self._thesaurus(word, names), self.language),
        )
        self.resolved.append(ResolvedWord(word, span, meaning))
        return self.table.event(meaning.target.event)

    def attribute(self, word: str, event: EventClass, span: Span) -> ResolvedAttribute:
        """Return the attribute that a word names, and the unit that the word's owner uses."""
        names = [attribute.name for attribute in event.attributes]
        found = self._attempt(
            "D103",
            f'attribute "{word}" of {event.name} is unknown',
            names,
            word,
            lambda: resolve_attribute(word, event, self.table, self._thesaurus(word, names), self.language),
        )
        self.resolved.append(ResolvedWord(word, span, found.meaning))
        return found

    def term(
        self,
        word: str,
        event: EventClass,
        attribute: Attribute,
        defined: Collection[str],
        span: Span,
        of: str = "",
    ) -> str:
        """Return the term that a word names; definitions of the document take precedence.

        `of` is the hedged term that refers to it, if there is one.
        """
        if word in defined:
            if not of:
                self.resolved.append(ResolvedWord(word, span, None))
            return word
        names = list(dict.fromkeys([*attribute.terms, *defined]))
        meaning = self._attempt(
            "D124" if of else "D102",
            f'term "{of}" refers to "{word}", which is unknown'
            if of
            else f'term "{word}" is unknown for {attribute.name}',
            names,
            word,
            lambda: resolve_term(
                word, event, attribute, self.table, self._thesaurus(word, names), self.language
            ),
            none="none are defined; write a <fuzzy-set>",
        )
        self.resolved.append(ResolvedWord(word, span, meaning))
        return meaning.target.name

    def value(self, word: str, event: EventClass, attribute: Attribute, span: Span) -> str:
        """Return the value of the nominal attribute that a word names."""
        word = word if len(word) <= _LONGEST_WORD else f"{word[:60]}…"
        names = list(attribute.values)
        meaning = self._attempt(
            "D114",
            f'"{word}" is not a value of {attribute.name}',
            names,
            word,
            lambda: resolve_value(
                word, event, attribute, self.table, self._thesaurus(word, names), self.language
            ),
            most=16,
        )
        self.resolved.append(ResolvedWord(word, span, meaning))
        return meaning.target.value

    def _thesaurus(self, word: str, names: Collection[str]) -> "Thesaurus | None":
        """Return the thesaurus to use, or None if the word needs none."""
        if word in names:
            return None
        self.consulted = self.given if self.given is not None else _shipped()
        return self.consulted

    def _attempt(
        self,
        code: str,
        complaint: str,
        names: list[str],
        word: str,
        resolve: Callable[[], Found],
        *,
        none: str = "there are none",
        most: int = 8,
    ) -> Found:
        try:
            return resolve()
        except AmbiguousWord as error:
            raise BadConstant(_AMBIGUOUS, str(error)) from None
        except UnitMismatch as error:
            raise BadConstant("D107", str(error)) from None
        except UnknownWord as error:
            known = listed(names, most) if names else none
            hint, meant = _hint(error, names)
            raise BadConstant(code, f"{complaint} ({known}){hint}", error.word, meant) from None


@cache
def _shipped() -> "Thesaurus":
    from knowledge_manager.lookup.thesaurus_files import load_thesaurus

    return load_thesaurus(SHIPPED)


def _hint(error: UnknownWord, names: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Return the most helpful hint (a near match, a correction, another meaning, or a similar word) and
    suggested replacements.
    """
    if error.weaker:
        return f"; not close enough: {_listed(error.weaker)}", ()
    misspelt = did_you_mean(error.word, names)
    elsewhere = [meaning for meaning in error.elsewhere if meaning.target.kind != "term"]
    if misspelt or not (elsewhere or error.nearest):
        return misspelt, likely_meant(error.word, names)
    if elsewhere:
        return f"; elsewhere it is {_listed(elsewhere)}", ()
    quoted = [f'"{near}"' for near in error.nearest]
    return f"; did you mean {listed(quoted, 4)}?", ()


def _listed(meanings: Collection[Meaning]) -> str:
    return listed([meaning.in_words() for meaning in meanings], 4)
