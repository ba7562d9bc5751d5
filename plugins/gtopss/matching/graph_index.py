"""The index of `fast`: concepts in flat arrays, built once, then only read and marked.

It can be stored as arrays and a small header (`to_arrays`) and mapped elsewhere (`from_arrays`): a worker on
another machine needs only these and the mission table.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from knowledge_manager.graphs.terms import Blank, Iri, Term
from knowledge_manager.graphs.values import value_of
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.match import MOST_WORK
from plugins.gtopss.matching.exact_ranks import ExactRanks
from plugins.gtopss.matching.filing import Experience
from plugins.gtopss.matching.index_arrays import PARTS, IndexArrays, built
from plugins.gtopss.matching.numbered_terms import TermNumbers, tag_key, term_key, term_of_key, worth
from plugins.gtopss.pattern import (
    MOST_CONSTRAINTS,
    MOST_EDGES,
    MOST_VARIABLES,
    Code,
    Constant,
    Constraint,
    Edge,
    End,
    Pattern,
)
from plugins.gtopss.rings import MOST_CUTS
from plugins.gtopss.vectors import decode_publication
from plugins.kernels.compiled import compiled
from plugins.kernels.graphs.decode import (
    DOUBLE,
    FINE,
    NO_GROUP,
    TAG_KEY,
    TAGS,
    DecodedPublication,
    DecodingRoom,
    constant_at,
    decode,
)
from plugins.kernels.graphs.index import NOTHING, SAMPLE, Statistics, TermArrays
from plugins.kernels.graphs.match import (
    DOUBTFUL,
    FAILED,
    LIMIT,
    PENDING,
    UNDECIDED,
    Held,
    Hits,
    Scratch,
    counted,
    search,
    search_again,
)

LAYOUT: Final = 1
"""Version of the array layout."""

Arrays = dict[str, npt.NDArray[Any]]


class Found(NamedTuple):
    """The concepts that a publication matches, which of them are undecided, and the number of statements of
    the publication.
    """

    concepts: npt.NDArray[np.int32]
    is_undecided: npt.NDArray[np.bool_]
    statements: int


class GraphIndex:
    """Finds the concepts that publications match. Concepts are numbered in input order.

    `most_work` bounds the units of work for the rings of a pair.
    """

    def __init__(self, arrays: IndexArrays, table: MissionTable, most_work: int = MOST_WORK) -> None:
        self._index = arrays
        self._table = table
        self._most_work = most_work
        self._decode = compiled(decode)
        self._search = compiled(search)
        self._search_again = compiled(search_again)
        self._count = compiled(counted)
        self._constant = compiled(constant_at)
        self._exact = ExactRanks(arrays.values, self.term)
        self._held = Held(arrays.concepts, arrays.values, arrays.classes, self._exact.ranks)
        self._hits = _hits(len(self))
        self._places = np.zeros((256, 2), np.int32)
        self._room, self._rest, self._scratch = _rooms(1024, arrays.terms, most_work)
        self.statistics = _statistics(arrays.terms)

    @classmethod
    def build(
        cls,
        patterns: Sequence[Pattern],
        table: MissionTable,
        before: "GraphIndex | None" = None,
        most_work: int = MOST_WORK,
    ) -> "GraphIndex":
        """Return the index of distinct patterns, filed by the statistics of a previous index."""
        terms = TermNumbers(table.dictionary, table.taxonomy)
        seen_by = None if before is None else before.seen_by
        return cls(built(list(patterns), terms, table.taxonomy, seen_by), table, most_work)

    def __len__(self) -> int:
        """Return the number of concepts, including marked ones."""
        return len(self._index.concepts.alive)

    @property
    def verified(self) -> int:
        """Return the number of candidates verified so far."""
        return int(self._hits.counts[1])

    @property
    def work(self) -> int:
        """Return the units of work of pairs so far."""
        return int(self._hits.counts[2])

    def mark_removed(self, concept: int) -> None:
        """Exclude this concept from results."""
        self._index.concepts.alive[concept] = 0

    def find(self, vector: bytes) -> Found:
        """Return the matches of a publication, by rising concept. Invalid bytes raise `VectorError`."""
        room = self._decoded(vector)
        count = self._searched(room)
        self._count(self._index.classes, room, self.statistics)
        statements = int(room.counts[2])
        if (self._hits.verdicts[:count] == DOUBTFUL).any():
            self._search_again(self._held, self._plainly(vector, room), self._scratch, self._hits, count)
        verdicts = self._hits.verdicts[:count]
        is_found = verdicts != FAILED
        concepts, verdicts = self._hits.found[:count][is_found], verdicts[is_found]
        order = np.argsort(concepts, kind="stable")
        return Found(concepts[order], verdicts[order] == UNDECIDED, statements)

    def _searched(self, room: DecodedPublication) -> int:
        """Return the number of concepts found, growing the room for slices as needed."""
        work = self._hits.counts[2]
        while True:
            given = self._held, self._index.keys, room, self._scratch, self._hits, self._places
            count = int(self._search(*given))
            if count >= 0:
                return count
            self._hits.counts[2] = work
            self._places = np.zeros((4 * len(self._places), 2), np.int32)

    def pattern(self, concept: int) -> Pattern:
        """Return the pattern of a concept, from the arrays."""
        heads, edges, asked, _ = self._index.concepts
        names = np.flatnonzero(self._index.terms.property_of >= 0)
        constants = dict(zip(self._index.terms.property_of[names].tolist(), names.tolist(), strict=True))

        def end(one: int) -> End:
            return -1 - one if one < 0 else self.term(one)

        found = []
        for property_, subject, object_ in edges[heads[concept, 0] : heads[concept + 1, 0]].tolist():
            named = self.term(constants[property_])
            assert isinstance(named, Iri), "properties are IRIs"
            found.append(Edge(end(subject), named, end(object_)))
        wanted = []
        for variable, number, operand in asked[heads[concept, 1] : heads[concept + 1, 1]].tolist():
            code = Code(number)
            held = operand if code is Code.DIFFERS else self.term(operand)
            wanted.append(Constraint(variable, code, held))
        return Pattern(int(heads[concept, 2]) & 255, tuple(found), tuple(wanted))

    def term(self, number: int) -> Constant:
        """Return the constant with a number, from its bytes."""
        terms = self._index.terms
        return term_of_key(terms.content[terms.starts[number] : terms.starts[number + 1]].tobytes())

    def seen_by(self, terms: TermNumbers) -> Experience:
        """Return the statistics so far, halved, by the numbers that `terms` gives the constants: old ones
        lose weight.
        """
        seen, own = self.statistics, self._index.terms
        found = Experience(float(seen.publications[0]) / 2)

        def moved(number: int) -> int:
            return NOTHING if own.content[own.starts[number]] == TAG_KEY else terms.known(self.term(number))

        for source, target in (
            (seen.as_subject, found.as_subject),
            (seen.as_object, found.as_object),
            (seen.as_class, found.as_class),
        ):
            for number in np.flatnonzero(source).tolist():
                target[moved(number)] = float(source[number]) / 2
        for number in np.flatnonzero(own.property_of >= 0).tolist():
            dense, other = int(own.property_of[number]), moved(number)
            found.of_property[other] = float(seen.of_property[dense]) / 2
            for at in range(int(seen.sample_sizes[dense])):
                group = int(seen.sample_groups[dense, at])
                if group < TAGS:
                    found.values.setdefault((other, group), []).append(float(seen.samples[dense, at]))
        for values in found.values.values():
            values.sort()
        return found

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything as arrays by name, and a header of plain data."""
        arrays: Arrays = {}
        numbers: dict[str, int] = {}
        for part, kind in PARTS.items():
            for name in kind._fields:
                content = getattr(getattr(self._index, part), name)
                if isinstance(content, np.ndarray):
                    arrays[f"{part}.{name}"] = content
                else:
                    numbers[f"{part}.{name}"] = int(content)
        return arrays, {"layout": LAYOUT, "check": self._table.check, "numbers": numbers}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], table: MissionTable
    ) -> "GraphIndex":
        """Return a stored index. Arrays may be mapped and read-only, except for the marks, which are copied.
        A header of another layout or mission table, and missing arrays, raise `ValueError`.
        """
        if header.get("layout") != LAYOUT:
            raise ValueError(f"the index has layout {header.get('layout')}, expected {LAYOUT}")
        if header.get("check") != table.check:
            raise ValueError("the index was made with another mission table")
        parts: dict[str, Any] = {}
        for part, kind in PARTS.items():
            names = {name: f"{part}.{name}" for name in kind._fields}
            missing = [key for key in names.values() if key not in arrays and key not in header["numbers"]]
            if missing:
                raise ValueError(f"the index lacks {missing[0]}")
            parts[part] = kind(
                **{
                    name: arrays[key] if key in arrays else int(header["numbers"][key])
                    for name, key in names.items()
                }
            )
        concepts = parts["concepts"]
        parts["concepts"] = concepts._replace(alive=np.array(concepts.alive))
        return cls(IndexArrays(**parts), table)

    def _decoded(self, vector: bytes) -> DecodedPublication:
        """Return a publication for the kernels. Invalid bytes raise `VectorError`."""
        nodes = len(vector) + 1 + self._index.terms.dictionary
        if len(self._room.nodes) < nodes:
            self._room, self._rest, self._scratch = _rooms(nodes, self._index.terms, self._most_work)
        data = np.frombuffer(vector, np.uint8)
        if self._decode(data, self._index.terms, self._room, self._rest) == FINE:
            return self._room
        return self._plainly(vector, self._room)

    def _plainly(self, vector: bytes, room: DecodedPublication) -> DecodedPublication:
        """Decode a publication without compiled code, and give its nodes exact ranks."""
        told = decode_publication(vector, self._table.dictionary)
        numbers = {term: number for number, term in enumerate(told.nodes)}
        known: dict[object, int] = {}
        for term, number in numbers.items():
            group, double, flags = worth(term, self._tag)
            value = value_of(term)
            rank = same = 0
            if value is not None and group > NO_GROUP and not flags & DOUBLE:
                rank = self._exact.rank(group, double, value.worth)
                same = known.setdefault(value.worth, len(known))
            room.nodes[number] = self._number(term), group, flags, rank, same
            room.values[number] = double
        rows = []
        for triple in told.graph:
            constant = self._number(triple.property)
            dense = int(self._index.terms.property_of[constant]) if constant >= 0 else NOTHING
            if dense >= 0:
                rows.append((dense, numbers[triple.subject], numbers[triple.object]))
        rows.sort()
        room.statements[: len(rows)] = np.array(rows, np.int32).reshape(-1, 3)
        room.counts[:] = len(numbers), len(rows), len(told.graph), 1
        return room

    def _number(self, term: Term) -> int:
        return NOTHING if isinstance(term, Blank) else self._looked_up(term_key(term))

    def _tag(self, tag: str) -> int:
        return self._looked_up(tag_key(tag))

    def _looked_up(self, key: bytes) -> int:
        return int(self._constant(self._index.terms, np.frombuffer(key, np.uint8)))


def _rooms(nodes: int, terms: TermArrays, most_work: int) -> tuple[DecodedPublication, DecodingRoom, Scratch]:
    """Return room for publications of this number of nodes; each node and each statement takes at least a
    byte.
    """
    words = (nodes + 63) >> 6
    room = DecodedPublication(
        np.zeros((nodes, 5), np.int32),
        np.zeros(nodes, np.float64),
        np.zeros((nodes, 3), np.int32),
        np.zeros(4, np.int64),
    )
    rest = DecodingRoom(np.zeros((nodes, 4), np.int32), np.zeros(nodes, np.int32))
    scratch = Scratch(
        np.zeros((_properties(terms), 2), np.int32),
        np.zeros((MOST_CUTS + 1, MOST_VARIABLES, words), np.uint64),
        np.zeros((2, words), np.uint64),
        np.zeros((nodes, 2), np.int32),
        np.zeros(PENDING + MOST_EDGES + MOST_CONSTRAINTS, np.int64),
    )
    scratch.notes[LIMIT] = most_work
    return room, rest, scratch


def _hits(concepts: int) -> Hits:
    return Hits(
        np.zeros(concepts, np.int64),
        np.zeros(concepts + 1, np.int32),
        np.zeros(concepts + 1, np.uint8),
        np.zeros(3, np.int64),
    )


def _properties(terms: TermArrays) -> int:
    return int(terms.property_of.max(initial=0)) + 1


def _statistics(terms: TermArrays) -> Statistics:
    constants, properties = len(terms.property_of), _properties(terms)
    return Statistics(
        np.zeros(1),
        np.zeros(constants),
        np.zeros(constants),
        np.zeros(constants),
        np.zeros(properties),
        np.zeros(properties, np.int32),
        np.zeros((properties, SAMPLE)),
        np.zeros((properties, SAMPLE), np.int32),
    )
