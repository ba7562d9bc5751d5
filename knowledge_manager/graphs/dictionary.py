"""The term dictionary of a mission: which terms of graphs are encoded as numbers, and which namespaces are
shortened.

It is part of the mission table and fixed for a mission, so vectors need no version of it. Other terms are
encoded as text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from knowledge_manager.graphs.terms import Iri


@dataclass(frozen=True)
class Dictionary:
    """Namespaces and terms by number."""

    namespaces: tuple[str, ...] = ()
    terms: tuple[Iri, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    """Prefixes as people write them; the first definition wins."""

    @classmethod
    def of(cls, classes: Iterable[tuple[Mapping[str, str], Iterable[str]]]) -> "Dictionary":
        """Return the dictionary of graph classes, each (namespaces, terms), by ascending index; the first
        definition wins.
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
        """Return a term's number, or None if it is encoded as text."""
        return self._numbers.get(term)

    def split(self, text: str) -> tuple[int, str] | None:
        """Return (namespace number, rest) of an IRI by the longest matching namespace, or None."""
        for namespace, number in self._by_length:
            if text.startswith(namespace):
                return number, text[len(namespace) :]
        return None

    def shortened(self, text: str) -> str:
        """Return an IRI with a prefix if a valid prefixed name exists."""
        found = [(space, prefix) for prefix, space in self.prefixes.items() if text.startswith(space)]
        space, prefix = max(found, key=lambda one: len(one[0]), default=("", ""))
        rest = text[len(space) :]
        is_plain = bool(prefix) and rest.replace("-", "").replace("_", "").isalnum() and rest[0].isalpha()
        return f"{prefix}:{rest}" if is_plain else f"<{text}>"


NO_DICTIONARY = Dictionary()
"""Encodes every term as text."""
