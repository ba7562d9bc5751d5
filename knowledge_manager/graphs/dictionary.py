"""The dictionary of a mission: which terms of graphs travel as numbers, and which addresses are shortened.

It is part of the mission table and fixed for a mission, so a vector needs no version of it. What it lacks
travels spelt out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from knowledge_manager.graphs.terms import Iri


@dataclass(frozen=True)
class Dictionary:
    """Namespaces and terms by their numbers, each once."""

    namespaces: tuple[str, ...] = ()
    terms: tuple[Iri, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    """What people write before a colon, first mention counts."""

    @classmethod
    def of(cls, classes: Iterable[tuple[Mapping[str, str], Iterable[str]]]) -> "Dictionary":
        """Return the dictionary of graph classes, (namespaces, terms) each by rising index: of what stands in
        several the first mention counts.
        """
        namespaces: dict[str, None] = {}
        terms: dict[Iri, None] = {}
        prefixes: dict[str, str] = {}
        for own, listed in classes:
            namespaces |= dict.fromkeys(own.values())
            terms |= dict.fromkeys(Iri(term) for term in listed)
            prefixes = {**own, **prefixes}
        return cls(tuple(namespaces), tuple(terms), prefixes)

    @cached_property
    def _numbers(self) -> dict[Iri, int]:
        return {term: number for number, term in enumerate(self.terms)}

    @cached_property
    def _by_length(self) -> list[tuple[str, int]]:
        numbered = [(namespace, number) for number, namespace in enumerate(self.namespaces)]
        return sorted(numbered, key=lambda one: (-len(one[0]), one[1]))

    def number_of(self, term: Iri) -> int | None:
        """Return a term's number, None where it travels spelt out."""
        return self._numbers.get(term)

    def split(self, text: str) -> tuple[int, str] | None:
        """Return (namespace, rest) of an IRI by the longest namespace; None where none has it."""
        for namespace, number in self._by_length:
            if text.startswith(namespace):
                return number, text[len(namespace) :]
        return None

    def shortened(self, text: str) -> str:
        """Return an IRI as people read it: with a prefix where there is one that they could write."""
        found = [(space, prefix) for prefix, space in self.prefixes.items() if text.startswith(space)]
        space, prefix = max(found, key=lambda one: len(one[0]), default=("", ""))
        rest = text[len(space) :]
        is_plain = bool(prefix) and rest.replace("-", "").replace("_", "").isalnum() and rest[0].isalpha()
        return f"{prefix}:{rest}" if is_plain else f"<{text}>"


NO_DICTIONARY = Dictionary()
"""Everything is spelt out."""
