"""Positions of the names in a query, which the parser does not keep."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from knowledge_manager.graphs.terms import RDF

_WORD: Final = re.compile(
    r"(?P<quiet>\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*)"
    r"|<(?P<iri>[^<>\"{}|^`\\\s]*)>"
    r"|[?$](?P<variable>\w+)"
    r"|(?P<prefix>[^\W\d_](?:[\w.\-]*[\w\-])?)?:(?P<rest>(?:[\w\-:%]|\.(?=[\w\-:%]))*)"
    r"|(?P<bare>\w+)",
    re.S,
)


class Word(NamedTuple):
    """A name in a query: a full IRI, a variable with its question mark, or a keyword in capitals."""

    offset: int
    meaning: str


class SparqlWords:
    """The names of a query in the order of its text, with a read position."""

    def __init__(self, text: str, prefixes: Mapping[str, str]) -> None:
        self._prefixes = dict(prefixes)
        self.unknown: list[tuple[int, str]] = []
        """Undeclared prefixes with their positions."""
        self.words = list(self._read(text))
        self._places: dict[str, list[int]] = {}
        for word in self.words:
            self._places.setdefault(word.meaning, []).append(word.offset)
        self.at = 0

    def _read(self, text: str) -> Iterator[Word]:
        declared = ""
        for found in _WORD.finditer(text):
            kind, at = found.lastgroup, found.start()
            if kind == "iri":
                if declared:
                    self._prefixes[declared.removesuffix(":")] = found["iri"]
                    declared = ""
                else:
                    yield Word(at, found["iri"])
            elif kind == "variable":
                yield Word(at, f"?{found['variable']}")
            elif kind == "rest":
                prefix = found["prefix"] or ""
                if declared:
                    declared = f"{prefix}:"
                elif prefix in self._prefixes:
                    yield Word(at, self._prefixes[prefix] + found["rest"])
                elif prefix != "_" and text[at - 1 : at] != "_":
                    self.unknown.append((at, prefix))
            elif kind == "bare":
                word = found["bare"]
                declared = ":" if word.upper() == "PREFIX" else ""
                yield Word(at, RDF + "type" if word == "a" else word.upper())

    def after(self, meaning: str, begin: int) -> int | None:
        """Return the first position of a name at or after `begin`."""
        places = self._places.get(meaning, [])
        number = bisect_left(places, begin)
        return places[number] if number < len(places) else None

    def read_on(self, meaning: str) -> int:
        """Return the next position of a name and move the read position behind it; the first position if
        none follows.
        """
        found = self.after(meaning, self.at)
        if found is None:
            first = self.after(meaning, 0)
            return self.at if first is None else first
        self.at = found + 1
        return found

    def edge(self, property_: str, object_: str) -> int:
        """Return the position of the next edge: its property, or its object in a list of objects."""
        named, ended = self.after(property_, self.at), self.after(object_, self.at)
        if ended is not None and (named is None or ended < named):
            self.at = ended + 1
            return ended
        place = self.read_on(property_)
        self.at = (self.after(object_, self.at) or self.at - 1) + 1 if named is not None else self.at
        return place
