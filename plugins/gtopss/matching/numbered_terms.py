"""Constants by number: the dictionary's terms, the taxonomy's, then those of patterns; and their values as
doubles.

Only terms of subscriptions are numbered, so publications do not grow this table.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np

from knowledge_manager.graphs.dictionary import NO_DICTIONARY, Dictionary
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Blank, Iri, Literal, Term, is_ill_formed, literal
from knowledge_manager.graphs.values import NUMBER as NUMBERS
from knowledge_manager.graphs.values import as_double, value_of
from plugins.byte_numbers import ByteReader
from plugins.gtopss.pattern import Constant
from plugins.gtopss.statements import TYPE
from plugins.gtopss.term_bytes import OTHER, WHOLE_IRI, kind_of, read_term, term_bytes
from plugins.kernels.compiled import compiled
from plugins.kernels.graphs.decode import (
    DATE,
    DOUBLE,
    EXACT,
    ILL_FORMED,
    INSTANT,
    NO_GROUP,
    NUMBER,
    STRING,
    TAG_KEY,
    TAGS,
)
from plugins.kernels.graphs.index import NOTHING, TermArrays, ValueArrays, term_table
from watchdog.vector import VectorError

_PREFIX: Final = 6
_GROUPS: Final = {
    NUMBERS: NUMBER,
    "http://www.w3.org/2001/XMLSchema#dateTime": INSTANT,
    "http://www.w3.org/2001/XMLSchema#date": DATE,
    "string@": STRING,
}


def term_key(term: Term) -> bytes:
    """Return the unique bytes of a constant: its kind and its content."""
    assert not isinstance(term, Blank), "a constant has a name"
    if isinstance(term, Iri):
        return b"\x01" + term.text.encode()
    if kind_of(term, NO_DICTIONARY) == OTHER:
        return bytes([OTHER]) + term.datatype.encode() + b"\0" + term.text.encode()
    return term_bytes(term, NO_DICTIONARY, _no_reference)


def term_of_key(key: bytes) -> Constant:
    """Return the constant with this key. Other bytes raise `VectorError`."""
    if key[0] == WHOLE_IRI:
        return Iri(key[1:].decode())
    if key[0] == OTHER:
        datatype, _, text = key[1:].partition(b"\0")
        return literal(text.decode(), datatype.decode())
    term = read_term(ByteReader(key), NO_DICTIONARY, _no_datatype)
    assert not isinstance(term, Blank), "a constant has a name"
    return term


def _no_datatype(reference: int) -> Iri:
    raise VectorError(0, "only kind 8 names its datatype")


def tag_key(tag: str) -> bytes:
    """Return the unique bytes of a language tag."""
    return bytes([TAG_KEY]) + tag.encode()


def _no_reference(term: Iri) -> int:
    raise AssertionError("only kind 8 names its datatype")


class TermNumbers:
    """Numbers constants in the order of first use."""

    def __init__(self, dictionary: Dictionary, taxonomy: Taxonomy) -> None:
        self.dictionary = dictionary
        self._numbers: dict[bytes, int] = {}
        self._of_term: dict[Constant, int] = {}
        self.terms: list[Constant | None] = []
        self.properties: dict[int, int] = {}
        for term in dictionary.terms:
            self.number(term)
        for text in (*taxonomy.parents, *taxonomy.types):
            self.number(Iri(text))
        self.members = len(self.terms)
        """Lower numbers may be in the taxonomy."""
        self.type_property = self.property(TYPE)

    def number(self, term: Constant) -> int:
        """Return the number of a constant, a new one if needed."""
        known = self._of_term.get(term)
        if known is not None:
            return known
        found = self._of_term[term] = self._number(term_key(term), term)
        if isinstance(term, Literal) and term.language:
            self._number(tag_key(term.language), None)
        return found

    def _number(self, key: bytes, term: Constant | None) -> int:
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._numbers)
            self.terms.append(term)
        return found

    def known(self, term: Constant) -> int:
        """Return the number of a constant, or `NOTHING`."""
        return self._of_term.get(term, NOTHING)

    def property(self, term: Iri) -> int:
        """Return the dense number of a constant as a property."""
        return self.properties.setdefault(self.number(term), len(self.properties))

    def arrays(self) -> TermArrays:
        starts = np.zeros(len(self._numbers) + 1, np.int64)
        np.cumsum([len(key) for key in self._numbers], out=starts[1:])
        slots = np.full(1 << max(4, (2 * len(self._numbers)).bit_length()), NOTHING, np.int32)
        hashes = np.zeros(len(self._numbers), np.uint64)
        content = np.frombuffer(b"".join(self._numbers), np.uint8)
        compiled(term_table)(content, starts, hashes, slots)
        spaces = [one.encode() for one in self.dictionary.namespaces]
        space_starts = np.zeros(len(spaces) + 1, np.int32)
        np.cumsum([len(one) for one in spaces], out=space_starts[1:])
        property_of = np.full(len(self._numbers), NOTHING, np.int32)
        property_of[list(self.properties)] = list(self.properties.values())
        names = np.frombuffer(b"".join(spaces) or b"\0", np.uint8)
        size = len(self.dictionary.terms)
        return TermArrays(slots, hashes, starts, content, space_starts, names, property_of, size)

    def values(self) -> ValueArrays:
        worths = [(NO_GROUP, 0.0, 0) if term is None else worth(term, self.tag_number) for term in self.terms]
        kinds = np.array([(group, flags) for group, _, flags in worths], np.int32).reshape(-1, 2)
        return ValueArrays(kinds, np.array([value for _, value, _ in worths], np.float64))

    def tag_number(self, tag: str) -> int:
        """Return the number of a language tag, or `NOTHING`."""
        return self._numbers.get(tag_key(tag), NOTHING)


def worth(term: Term, tag_number: Callable[[str], int]) -> tuple[int, float, int]:
    """Return the group, the double and the flags of a term; `tag_number` maps language tags."""
    if not isinstance(term, Literal):
        return NO_GROUP, 0.0, 0
    if is_ill_formed(term):
        return NO_GROUP, 0.0, ILL_FORMED
    value = value_of(term)
    if value is None:
        return NO_GROUP, 0.0, 0
    if isinstance(value.worth, str):
        group = STRING
        if term.language:
            tag = tag_number(term.language)
            group = TAGS + tag if tag >= 0 else NO_GROUP
        text = value.worth.encode()
        is_exact = len(text) <= _PREFIX and b"\0" not in text
        return (
            group,
            float(int.from_bytes(text[:_PREFIX].ljust(_PREFIX, b"\0"), "big")),
            EXACT if is_exact else 0,
        )
    if isinstance(value.worth, float):
        return NUMBER, value.worth, EXACT | DOUBLE
    double = as_double(value.worth)
    is_exact = math.isfinite(double) and Fraction(double) == value.worth
    return _GROUPS[value.kind], double, EXACT if is_exact else 0
