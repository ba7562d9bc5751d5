"""A pattern as written: edges and conditions by name, each with its position."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from dens.config.problems import did_you_mean, likely_meant, listed
from knowledge_manager.graphs.sparql_reader import ALWAYS, QueryTerm, Variable
from knowledge_manager.graphs.terms import (
    DECIMAL,
    INTEGER,
    XSD,
    Iri,
    Literal,
    TermError,
    iri,
    is_ill_formed,
    literal,
)
from plugins.authoring.constants import BadConstant
from plugins.authoring.xml.spans import Span

UNKNOWN_NAME: Final = "D515"
NO_TERM: Final = "D516"
_DATATYPES: Final = ("string", "integer", "decimal", "double", "dateTime", "date", "boolean")
"""Datatypes that are written without a prefix."""


@dataclass(frozen=True, slots=True)
class DraftEdge:
    subject: QueryTerm
    property: Iri
    object: QueryTerm
    span: Span


@dataclass(frozen=True, slots=True)
class DraftConstraint:
    variable: Variable
    operator: str
    operand: QueryTerm
    span: Span


@dataclass(slots=True)
class Draft:
    edges: list[DraftEdge] = field(default_factory=list)
    constraints: list[DraftConstraint] = field(default_factory=list)


class Names:
    """Reads prefixed names and literals in XML documents."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = {**ALWAYS, **prefixes}

    def wanted(self, text: str, datatype: str | None, language: str | None) -> QueryTerm:
        """Return the end of an edge: a variable, a literal if a datatype or a language is given, else a name.
        Anything else raises `BadConstant`.
        """
        if datatype is not None or language is not None:
            return self.literal(text, datatype, language)
        if text.strip().startswith("?"):
            return self.variable(text)
        return self.name(text)

    def variable(self, text: str) -> Variable:
        """Return the variable of a text that begins with a question mark, or raise `BadConstant`."""
        name = text.strip().removeprefix("?")
        if not text.strip().startswith("?") or not name.isidentifier() or not name.isascii():
            raise BadConstant(NO_TERM, f'"{text.strip()[:80]}" is not a variable; write ?item')
        return Variable(name)

    def name(self, text: str) -> Iri:
        """Return the IRI of a prefixed or full name, or raise `BadConstant`."""
        word = text.strip()
        if word.startswith("<") and word.endswith(">"):
            return self._iri(word[1:-1])
        prefix, separator, rest = word.partition(":")
        if separator and prefix in self._prefixes:
            return self._iri(self._prefixes[prefix] + rest)
        if rest.startswith("//") or prefix.lower() == "urn":
            return self._iri(word)
        known = list(self._prefixes)
        if not separator:
            message = f'"{word[:80]}" is neither a name with a prefix (rss:item) nor a variable (?item)'
            raise BadConstant(NO_TERM, message)
        message = f'prefix "{prefix[:80]}" is unknown ({listed(known)}){did_you_mean(prefix, known)}'
        meant = tuple(f"{one}:{rest}" for one in likely_meant(prefix, known))
        raise BadConstant(UNKNOWN_NAME, message, word, meant)

    def literal(self, text: str, datatype: str | None, language: str | None) -> Literal:
        """Return a literal, or raise `BadConstant`. Whether it fits its datatype is checked later."""
        if datatype is not None and language is not None:
            raise BadConstant(NO_TERM, "a literal has a datatype or a language, not both")
        try:
            if language is not None:
                return literal(text, language=language.strip())
            return literal(text, self._datatype(str(datatype)))
        except TermError as error:
            raise BadConstant(NO_TERM, str(error)) from None

    def guessed(self, text: str) -> Literal:
        """Return the number of a text. Anything else raises `BadConstant`, which requests a datatype."""
        for datatype in (INTEGER, DECIMAL):
            found = literal(text, datatype)
            if not is_ill_formed(found):
                return found
        message = f'"{text.strip()[:80]}" has no datatype; add datatype="dateTime", "string" or another'
        raise BadConstant(NO_TERM, message)

    def _datatype(self, text: str) -> str:
        word = text.strip()
        if ":" in word:
            return self.name(word).text
        if word not in _DATATYPES:
            hint = did_you_mean(word, _DATATYPES)
            meant = likely_meant(word, _DATATYPES)
            raise BadConstant(
                UNKNOWN_NAME, f'datatype "{word}" is unknown ({listed(_DATATYPES)}){hint}', word, meant
            )
        return XSD + word

    def _iri(self, text: str) -> Iri:
        try:
            return iri(text)
        except TermError as error:
            raise BadConstant(NO_TERM, str(error)) from None


def named_variables(draft: Draft) -> dict[str, int]:
    """Return the numbers of variables, in the order of first occurrence in edges."""
    found: dict[str, int] = {}
    for edge in draft.edges:
        for end in (edge.subject, edge.object):
            if isinstance(end, Variable):
                found.setdefault(end.name, len(found))
    return found


def shown(variables: Iterable[str]) -> str:
    return ", ".join(f"?{name}" for name in variables)
