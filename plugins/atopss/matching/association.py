"""Association of predicates with terms: as lists, or as a bit matrix (ICDE 2004, figure 8)."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np


class Association(Protocol):
    """From a predicate to its terms; both are numbers."""

    def enter(self, predicate: int, term: int) -> None: ...

    def leave(self, predicate: int, term: int) -> None: ...

    def terms(self, predicate: int) -> Iterable[int]: ...


class Lists:
    """A list of terms per predicate."""

    def __init__(self) -> None:
        self._terms: dict[int, dict[int, None]] = {}

    def enter(self, predicate: int, term: int) -> None:
        self._terms.setdefault(predicate, {})[term] = None

    def leave(self, predicate: int, term: int) -> None:
        terms = self._terms[predicate]
        del terms[term]
        if not terms:
            del self._terms[predicate]

    def terms(self, predicate: int) -> Iterable[int]:
        return self._terms.get(predicate, ())


class Matrix:
    """A row of bits per predicate, a column per term."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}

    def enter(self, predicate: int, term: int) -> None:
        self._rows[predicate] = self._rows.get(predicate, 0) | 1 << term

    def leave(self, predicate: int, term: int) -> None:
        self._rows[predicate] ^= 1 << term
        if not self._rows[predicate]:
            del self._rows[predicate]

    def terms(self, predicate: int) -> Iterable[int]:
        row = self._rows.get(predicate, 0)
        bits = np.frombuffer(row.to_bytes(-(-row.bit_length() // 8), "little"), np.uint8)
        found: list[int] = np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist()
        return found


ASSOCIATIONS: Final[Mapping[str, Callable[[], Association]]] = MappingProxyType(
    {"lists": Lists, "matrix": Matrix}
)
"""Both structures by name."""
