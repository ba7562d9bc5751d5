"""Encoding of the language: publications and patterns (docs/reference/graph-format.md).

    publication  number (2)  valid  stamp (2)  10  L  local terms  subjects × (step, pairs × (step, object))
    body         stamp (2)  20  v  L  local terms  edges × (property, subject, object)
                 constraints × (variable·16 + code, operand)

A reference below L is a local term, others are entries of the dictionary from L on; in a pattern an end below
v is a variable, others are references from v on. Everything is in ascending order, once, and nothing is
unused: the encoding is canonical, as far as variables and blank nodes have an order. Vectors are untrusted:
decoding accepts exactly what encoding writes, and raises `VectorError` for everything else.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, TypeGuard

from knowledge_manager.graphs.dictionary import Dictionary
from knowledge_manager.graphs.terms import Blank, Graph, Iri, Literal, Term, Triple
from knowledge_manager.graphs.values import value_of
from knowledge_manager.vocabulary.graph_class import LARGEST_PUBLICATION
from plugins.byte_numbers import ByteReader, number
from plugins.gtopss.pattern import (
    KINSHIPS,
    MOST_CONSTRAINTS,
    MOST_EDGES,
    MOST_VARIABLES,
    ORDERS,
    Code,
    Constant,
    Constraint,
    Edge,
    End,
    Pattern,
    in_order_of_appearance,
)
from plugins.gtopss.rings import MOST_CUTS, cut_variables
from plugins.gtopss.term_bytes import OTHER, kind_of, read_term, term_bytes
from watchdog.header import BODY_AT
from watchdog.vector import ONE_HOUR

PUBLICATION: Final = 0x10
PATTERN: Final = 0x20
FORM_AT: Final = 5
"""Offset of the form byte, which distinguishes the two."""
STAMP_BYTES: Final = 2
_NUMBER_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class GraphPublication:
    graph: Graph
    number: int = 0
    valid: int = ONE_HOUR
    stamp_s: int = 0
    nodes: tuple[Term, ...] = field(default=(), compare=False, repr=False)
    """The nodes of a decoded publication: local terms, then those of the dictionary, in the order of the
    bytes."""


def encode_publication(told: GraphPublication, dictionary: Dictionary) -> bytes:
    terms = _Terms((term for triple in told.graph for term in triple), dictionary)
    rows = sorted(tuple(terms.reference(term) for term in triple) for triple in told.graph)
    head = (told.number % 65536).to_bytes(_NUMBER_BYTES, "big") + bytes([told.valid])
    parts = [head, (told.stamp_s % 65536).to_bytes(STAMP_BYTES, "big"), bytes([PUBLICATION]), terms.bytes]
    subjects = [(subject, [row[1:] for row in some]) for subject, some in groupby(rows, lambda row: row[0])]
    parts.append(number(len(subjects)))
    last = 0
    for subject, pairs in subjects:
        parts += [number(subject - last), number(len(pairs))]
        last, last_property = subject, 0
        for property_, object_ in pairs:
            parts += [number(property_ - last_property), number(object_)]
            last_property = property_
    return b"".join(parts)


def decode_publication(vector: bytes, dictionary: Dictionary) -> GraphPublication:
    """Return the content of a publication, or raise `VectorError`."""
    data = ByteReader(vector)
    event_number = data.byte("a number") << 8 | data.byte("a number")
    valid = data.byte("a lifetime")
    stamp_s = data.byte("a stamp") << 8 | data.byte("a stamp")
    if data.byte("a form") != PUBLICATION:
        raise data.refused(f"a publication has the form {PUBLICATION:#x}", FORM_AT)
    if len(vector) > LARGEST_PUBLICATION:
        raise data.refused(f"a publication has at most {LARGEST_PUBLICATION} bytes", LARGEST_PUBLICATION)
    terms = _LocalTerms(data, dictionary, blanks_are_terms=True)
    graph: dict[Triple, None] = {}
    last = 0
    for position in range(data.number("a number of subjects")):
        begin, step = data.at, data.number("a subject")
        if position and not step:
            raise data.refused("subjects are not in ascending order, or one occurs twice", begin)
        last += step
        subject = terms.at(last, begin)
        if isinstance(subject, Literal):
            raise data.refused("a literal cannot be a subject", begin)
        _read_pairs(data, terms, subject, graph)
    if not graph:
        raise data.refused("a publication has no statements")
    data.refuse_rest()
    terms.refuse_unused()
    return GraphPublication(frozenset(graph), event_number, valid, stamp_s, terms.nodes_of(graph))


def _read_pairs(data: ByteReader, terms: "_LocalTerms", subject: Term, graph: dict[Triple, None]) -> None:
    begin, pairs = data.at, data.number("a number of statements")
    if not pairs:
        raise data.refused("a subject has no statements", begin)
    before, last = (-1, -1), 0
    for _ in range(pairs):
        begin = data.at
        last += data.number("a property")
        object_ = data.number("an object")
        if (last, object_) <= before:
            raise data.refused("statements are not in ascending order, or one occurs twice", begin)
        before = last, object_
        property_ = terms.at(last, begin)
        if not isinstance(property_, Iri):
            raise data.refused("a property is not an IRI", begin)
        graph[Triple(subject, property_, terms.at(object_, begin))] = None


def encode_pattern(pattern: Pattern, dictionary: Dictionary, stamp_s: int = 0) -> bytes:
    terms = _Terms(_constants(pattern), dictionary)
    v = pattern.variables

    def end(one: End) -> int:
        return one if isinstance(one, int) else v + terms.reference(one)

    def operand(one: Constraint) -> int:
        return one.operand if isinstance(one.operand, int) else terms.reference(one.operand)

    edges = sorted({(terms.reference(e.property), end(e.subject), end(e.object)) for e in pattern.edges})
    asked = sorted({(one.variable << 4 | one.code, operand(one)) for one in pattern.constraints})
    parts = [(stamp_s % 65536).to_bytes(STAMP_BYTES, "big"), bytes([PATTERN, v]), terms.bytes]
    parts.append(number(len(edges)))
    parts += [number(part) for edge in edges for part in edge]
    parts.append(number(len(asked)))
    parts += [bytes([code]) + number(value) for code, value in asked]
    return b"".join(parts)


def decode_pattern(body: bytes, dictionary: Dictionary) -> Pattern:
    """Return the pattern of a body, or raise `VectorError`; offsets include the overlay's header."""
    data = ByteReader(body, BODY_AT)
    data.take(STAMP_BYTES, "a stamp")
    if data.byte("a form") != PATTERN:
        raise data.refused(f"a pattern has the form {PATTERN:#x}", data.at - 1)
    v = data.byte("a number of variables")
    if v > MOST_VARIABLES:
        raise data.refused(f"{v} variables; at most {MOST_VARIABLES} are allowed", data.at - 1)
    terms = _LocalTerms(data, dictionary, blanks_are_terms=False)
    edges = _read_edges(data, terms, v)
    asked = _read_constraints(data, terms, v)
    data.refuse_rest()
    terms.refuse_unused()
    pattern = Pattern(v, edges, asked)
    if {one for edge in edges for one in edge.variables()} != set(range(v)):
        raise data.refused("a variable occurs in no edge")
    if in_order_of_appearance(pattern) is None:
        raise data.refused("variables are not numbered by first occurrence, in any order of the edges")
    if len(cut_variables(pattern)) > MOST_CUTS:
        raise data.refused(f"its rings need more than {MOST_CUTS} cut variables")
    return pattern


def _read_edges(data: ByteReader, terms: "_LocalTerms", v: int) -> tuple[Edge, ...]:
    begin, count = data.at, data.number("a number of edges")
    if not 1 <= count <= MOST_EDGES:
        raise data.refused(f"{count} edges; expected 1 to {MOST_EDGES}", begin)
    edges: list[Edge] = []
    before = (-1, -1, -1)
    for _ in range(count):
        begin = data.at
        row = data.number("a property"), data.number("a subject"), data.number("an object")
        if row <= before:
            raise data.refused("edges are not in ascending order, or one occurs twice", begin)
        before = row
        property_ = terms.constant(row[0], begin)
        subject, object_ = (one if one < v else terms.constant(one - v, begin) for one in row[1:])
        if not isinstance(property_, Iri) or isinstance(subject, Literal):
            raise data.refused("a property is not an IRI, or a literal is a subject", begin)
        edges.append(Edge(subject, property_, object_))
    return tuple(edges)


def _read_constraints(data: ByteReader, terms: "_LocalTerms", v: int) -> tuple[Constraint, ...]:
    begin, count = data.at, data.number("a number of constraints")
    if count > MOST_CONSTRAINTS:
        raise data.refused(f"{count} constraints; at most {MOST_CONSTRAINTS} are allowed", begin)
    asked: list[Constraint] = []
    before = (-1, -1)
    for _ in range(count):
        begin = data.at
        row = data.byte("a constraint"), data.number("an operand")
        if row <= before:
            raise data.refused("constraints are not in ascending order, or one occurs twice", begin)
        before = row
        asked.append(_constraint(data, terms, v, row, begin))
    return tuple(asked)


def _constraint(
    data: ByteReader, terms: "_LocalTerms", v: int, row: tuple[int, int], begin: int
) -> Constraint:
    variable = row[0] >> 4
    if variable >= v:
        raise data.refused(f"unknown variable {variable}", begin)
    try:
        code = Code(row[0] & 15)
    except ValueError:
        raise data.refused(f"unknown constraint code {row[0] & 15}", begin) from None
    if code is Code.DIFFERS:
        if not variable < row[1] < v:
            raise data.refused("the operand of differs is not a later variable", begin)
        return Constraint(variable, code, row[1])
    operand = terms.constant(row[1], begin)
    if code in KINSHIPS and not isinstance(operand, Iri):
        raise data.refused("a class is not an IRI", begin)
    if code in ORDERS and value_of(operand) is None:
        raise data.refused("the operand of a comparison has no order", begin)
    return Constraint(variable, code, operand)


def _constants(pattern: Pattern) -> Iterable[Constant]:
    for edge in pattern.edges:
        yield from (one for one in edge if not isinstance(one, int))
    yield from (one.operand for one in pattern.constraints if not isinstance(one.operand, int))


class _Terms:
    """References of terms: local ones first, then the dictionary's."""

    def __init__(self, used: Iterable[Term], dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        terms = dict.fromkeys(used)
        terms |= dict.fromkeys(Iri(term.datatype) for term in terms if _is_other(term, dictionary))
        local = [one for one in terms if not isinstance(one, Iri) or dictionary.number_of(one) is None]
        blanks = sorted((one for one in local if isinstance(one, Blank)), key=lambda one: one.number)
        names = {_spelt(one, dictionary): one for one in local if isinstance(one, Iri)}
        self._size = len(local)
        self._local: dict[Term, int] = {names[text]: at for at, text in enumerate(sorted(names))}
        others = {
            term_bytes(one, dictionary, self.reference): one for one in local if isinstance(one, Literal)
        }
        ordered: list[tuple[bytes, Term]] = [(text, others[text]) for text in sorted(others)]
        ordered += [(term_bytes(one, dictionary, self.reference), one) for one in blanks]
        self._local |= {term: len(names) + at for at, (_, term) in enumerate(ordered)}
        texts = [*sorted(names), *(text for text, _ in ordered)]
        self.bytes = number(len(texts)) + b"".join(texts)

    def reference(self, term: Term) -> int:
        """Return the reference of a term."""
        if term in self._local:
            return self._local[term]
        found = self._dictionary.number_of(term) if isinstance(term, Iri) else None
        assert found is not None, "every term is local or in the dictionary"
        return self._size + found


def _is_other(term: Term, dictionary: Dictionary) -> TypeGuard[Literal]:
    """Return whether a term is a literal with an explicit datatype."""
    return isinstance(term, Literal) and kind_of(term, dictionary) == OTHER


def _spelt(term: Iri, dictionary: Dictionary) -> bytes:
    return term_bytes(term, dictionary, _no_reference)


def _no_reference(term: Iri) -> int:
    raise AssertionError("an IRI has no datatype")


class _LocalTerms:
    """The terms of a vector by reference; records which are used."""

    def __init__(self, data: ByteReader, dictionary: Dictionary, *, blanks_are_terms: bool) -> None:
        self._data = data
        self._dictionary = dictionary
        self._terms: list[Term] = []
        self._begins: list[int] = []
        self._used: set[int] = set()
        self._blanks_are_terms = blanks_are_terms
        begin, self._size = data.at, data.number("a number of terms")
        if self._size > len(data.data) - data.at:
            raise data.refused("the vector is too short for its number of terms", begin)
        before, blanks = b"", 0
        for _ in range(self._size):
            begin = data.at
            term = read_term(data, dictionary, self._datatype)
            if isinstance(term, Blank):
                term = self._numbered(blanks, begin)
                blanks += 1
            else:
                before = self._in_order(begin, before, blanks)
            if isinstance(term, Iri) and dictionary.number_of(term) is not None:
                raise data.refused("a term of the dictionary is encoded as a local term", begin)
            self._terms.append(term)
            self._begins.append(begin)

    def _numbered(self, blanks: int, begin: int) -> Blank:
        if not self._blanks_are_terms:
            raise self._data.refused("a pattern contains a blank node", begin)
        return Blank(blanks)

    def _in_order(self, begin: int, before: bytes, blanks: int) -> bytes:
        written = self._data.data[begin : self._data.at]
        if written <= before or blanks:
            raise self._data.refused(
                "terms are not in ascending order of their bytes, or a blank node is not last", begin
            )
        return written

    def _datatype(self, reference: int) -> Iri:
        if self._size > reference >= len(self._terms):
            raise self._data.refused("a datatype follows its literal")
        term = self.at(reference, self._data.at)
        if not isinstance(term, Iri):
            raise self._data.refused("a datatype is not an IRI")
        return term

    def at(self, reference: int, begin: int) -> Term:
        """Return the term of a reference, or raise `VectorError`."""
        if reference < self._size:
            self._used.add(reference)
            return self._terms[reference]
        entry = reference - self._size
        if entry >= len(self._dictionary.terms):
            raise self._data.refused(f"the dictionary has no entry {entry}", begin)
        return self._dictionary.terms[entry]

    def constant(self, reference: int, begin: int) -> Constant:
        """Return the constant of a reference, or raise `VectorError`."""
        term = self.at(reference, begin)
        assert not isinstance(term, Blank), "a pattern has none"
        return term

    def nodes_of(self, triples: Iterable[Triple]) -> tuple[Term, ...]:
        """Return the ends of triples: local terms first, then those of the dictionary in order of
        occurrence.
        """
        ends = dict.fromkeys(term for triple in triples for term in (triple.subject, triple.object))
        local = [term for term in self._terms if term in ends]
        return tuple(dict.fromkeys((*local, *ends)))

    def refuse_unused(self) -> None:
        """Refuse unused local terms."""
        for reference in range(self._size):
            if reference not in self._used:
                raise self._data.refused("a local term is not used", self._begins[reference])
