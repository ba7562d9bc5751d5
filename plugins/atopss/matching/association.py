"""Which terms have which predicates: as lists, or as a matrix of bits (ICDE 2004, figure 8)."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np


class Association(Protocol):
    """From a predicate to the terms that have it; both are numbers."""

    def enter(self, predicate: int, term: int) -> None:
        """Note that a term has a predicate."""
        ...

    def leave(self, predicate: int, term: int) -> None:
        """Note that it no longer has it."""
        ...

    def terms(self, predicate: int) -> Iterable[int]:
        """Return the terms that have a predicate."""
        ...


class Lists:
    """A list of terms for each predicate."""

    def __init__(self) -> None:
        self._terms: dict[int, dict[int, None]] = {}

    def enter(self, predicate: int, term: int) -> None:
        """Note that a term has a predicate."""
        self._terms.setdefault(predicate, {})[term] = None

    def leave(self, predicate: int, term: int) -> None:
        """Note that it no longer has it."""
        terms = self._terms[predicate]
        del terms[term]
        if not terms:
            del self._terms[predicate]

    def terms(self, predicate: int) -> Iterable[int]:
        """Return the terms that have a predicate."""
        return self._terms.get(predicate, ())


class Matrix:
    """A row of bits for each predicate, a column for each term."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}

    def enter(self, predicate: int, term: int) -> None:
        """Note that a term has a predicate."""
        self._rows[predicate] = self._rows.get(predicate, 0) | 1 << term

    def leave(self, predicate: int, term: int) -> None:
        """Note that it no longer has it."""
        self._rows[predicate] ^= 1 << term
        if not self._rows[predicate]:
            del self._rows[predicate]

    def terms(self, predicate: int) -> Iterable[int]:
        """Return the terms that have a predicate."""
        row = self._rows.get(predicate, 0)
        bits = np.frombuffer(row.to_bytes(-(-row.bit_length() // 8), "little"), np.uint8)
        found: list[int] = np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist()
        return found


ASSOCIATIONS: Final[Mapping[str, Callable[[], Association]]] = MappingProxyType(
    {"lists": Lists, "matrix": Matrix}
)
"""Both structures by their names."""
