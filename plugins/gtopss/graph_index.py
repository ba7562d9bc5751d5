"""The index that `fast` searches: concepts in flat arrays, built once, then only read and marked.

It can be written down as arrays and a small header (`to_arrays`) and mapped again elsewhere (`from_arrays`):
a worker on another machine needs these and the mission table, nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from knowledge_manager.graphs.terms import Blank, Iri, Term
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.filing import Experience
from plugins.gtopss.index_arrays import PARTS, IndexArrays, built
from plugins.gtopss.match import Verdict, judge
from plugins.gtopss.numbered_terms import TermNumbers, tag_key, term_key, worth
from plugins.gtopss.pattern import MOST_VARIABLES, Code, Constant, Constraint, Edge, End, Pattern
from plugins.gtopss.rings import MOST_CUTS
from plugins.gtopss.statements import Statements
from plugins.gtopss.stored_terms import term_of_key
from plugins.gtopss.vectors import decode_publication
from plugins.kernels.compiled import compiled
from plugins.kernels.graph_decode import (
    FINE,
    TAG_KEY,
    TAGS,
    DecodedPublication,
    DecodingRoom,
    constant_at,
    decode,
    sort_by_property,
)
from plugins.kernels.graph_index import NOTHING, SAMPLE, Statistics, TermArrays
from plugins.kernels.graph_match import DOUBTFUL, MATCHED, UNDECIDED, Held, Hits, Scratch, counted, search

LAYOUT: Final = 1
"""Of the arrays; another one is another number."""

Arrays = dict[str, npt.NDArray[Any]]


class Found(NamedTuple):
    """The concepts that a publication matches, and which of them count as matched because undecided."""

    concepts: npt.NDArray[np.int32]
    is_undecided: npt.NDArray[np.bool_]


class GraphIndex:
    """Finds the concepts that publications match. Concepts are numbered as they were given."""

    def __init__(self, arrays: IndexArrays, table: MissionTable) -> None:
        self._index = arrays
        self._table = table
        self._decode = compiled(decode)
        self._search = compiled(search)
        self._count = compiled(counted)
        self._constant = compiled(constant_at)
        self._held = Held(arrays.concepts, arrays.values, arrays.classes)
        self._hits = _hits(len(self))
        self._places = np.zeros((256, 2), np.int32)
        self._room, self._rest, self._scratch = _rooms(1024, arrays.terms)
        self.statistics = _statistics(arrays.terms)

    @classmethod
    def build(
        cls, patterns: Sequence[Pattern], table: MissionTable, before: "GraphIndex | None" = None
    ) -> "GraphIndex":
        """Return the index of distinct patterns, filed by what an index before it has seen."""
        terms = TermNumbers(table.dictionary, table.taxonomy)
        return cls(
            built(list(patterns), terms, table.taxonomy, None if before is None else before.seen_by), table
        )

    def __len__(self) -> int:
        """Return how many concepts there are, marked ones included."""
        return len(self._index.concepts.alive)

    @property
    def verified(self) -> int:
        """Return how many candidates were verified so far."""
        return int(self._hits.counts[1])

    def mark_removed(self, concept: int) -> None:
        """Find this concept no longer."""
        self._index.concepts.alive[concept] = 0

    def find(self, vector: bytes) -> Found:
        """Return what a publication matches, by rising concept; bad bytes raise `VectorError`."""
        room = self._decoded(vector)
        count = self._searched(room)
        self._count(self._index.classes, room, self.statistics)
        concepts, verdicts = self._hits.found[:count].copy(), self._hits.verdicts[:count].copy()
        if (verdicts == DOUBTFUL).any():
            concepts, verdicts = self._judged_again(vector, concepts, verdicts)
        order = np.argsort(concepts, kind="stable")
        return Found(concepts[order], verdicts[order] == UNDECIDED)

    def _searched(self, room: DecodedPublication) -> int:
        """Return how many concepts were found, with as much room for slices as it takes."""
        while True:
            given = self._held, self._index.keys, room, self._scratch, self._hits, self._places
            count = int(self._search(*given))
            if count >= 0:
                return count
            self._places = np.zeros((4 * len(self._places), 2), np.int32)

    def _judged_again(
        self, vector: bytes, concepts: npt.NDArray[np.int32], verdicts: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
        """Judge what doubles could not tell by the definition."""
        graph = decode_publication(vector, self._table.dictionary).graph
        statements = Statements(graph, self._table.taxonomy)
        codes = {Verdict.MATCHED: MATCHED, Verdict.UNDECIDED: UNDECIDED, Verdict.NOT: DOUBTFUL}
        for at in np.flatnonzero(verdicts == DOUBTFUL).tolist():
            verdicts[at] = codes[judge(self.pattern(int(concepts[at])), statements)]
        kept = verdicts != DOUBTFUL
        return concepts[kept], verdicts[kept]

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
        """Return the constant of a number, from its bytes."""
        terms = self._index.terms
        return term_of_key(terms.content[terms.starts[number] : terms.starts[number + 1]].tobytes())

    def seen_by(self, terms: TermNumbers) -> Experience:
        """Return what was seen so far, halved, by the numbers that others give the same constants: what is
        old counts less and less.
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
        """Return everything as arrays by name, and a header that is plain data."""
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
        """Return the index that was written down so; arrays may be mapped and read-only, but for the marks,
        which are copied. A header of another layout or mission table, and arrays that are missing, raise
        `ValueError`.
        """
        if header.get("layout") != LAYOUT:
            raise ValueError(f"the index has layout {header.get('layout')}; this is layout {LAYOUT}")
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
        """Return a publication as kernels take it; bad bytes raise `VectorError`."""
        nodes = len(vector) + 1 + self._index.terms.dictionary
        if len(self._room.nodes) < nodes:
            self._room, self._rest, self._scratch = _rooms(nodes, self._index.terms)
        data = np.frombuffer(vector, np.uint8)
        if self._decode(data, self._index.terms, self._room, self._rest) == FINE:
            return self._room
        return self._plainly(vector, self._room)

    def _plainly(self, vector: bytes, room: DecodedPublication) -> DecodedPublication:
        """Take a publication apart without the compiled decoder."""
        graph = decode_publication(vector, self._table.dictionary).graph
        nodes: dict[Term, int] = {}
        kept = 0
        for triple in graph:
            for term in (triple.subject, triple.object):
                if term not in nodes:
                    group, room.values[len(nodes)], flags = worth(term, self._tag)
                    room.nodes[len(nodes)] = self._number(term), group, flags
                    nodes[term] = len(nodes)
            constant = self._number(triple.property)
            dense = int(self._index.terms.property_of[constant]) if constant >= 0 else NOTHING
            if dense >= 0:
                room.statements[kept] = dense, nodes[triple.subject], nodes[triple.object]
                kept += 1
        compiled(sort_by_property)(room, kept)
        room.counts[:3] = len(nodes), kept, len(graph)
        return room

    def _number(self, term: Term) -> int:
        return NOTHING if isinstance(term, Blank) else self._looked_up(term_key(term))

    def _tag(self, tag: str) -> int:
        return self._looked_up(tag_key(tag))

    def _looked_up(self, key: bytes) -> int:
        return int(self._constant(self._index.terms, np.frombuffer(key, np.uint8)))


def _rooms(nodes: int, terms: TermArrays) -> tuple[DecodedPublication, DecodingRoom, Scratch]:
    """Return room for publications of so many nodes; each node and each statement takes a byte, at least."""
    words = (nodes + 63) >> 6
    room = DecodedPublication(
        np.zeros((nodes, 3), np.int32),
        np.zeros(nodes, np.float64),
        np.zeros((nodes, 3), np.int32),
        np.zeros(3, np.int64),
    )
    rest = DecodingRoom(np.zeros((nodes, 4), np.int32), np.zeros(nodes, np.int32))
    scratch = Scratch(
        np.zeros((_properties(terms), 2), np.int32),
        np.zeros((MOST_CUTS + 1, MOST_VARIABLES, words), np.uint64),
        np.zeros((2, words), np.uint64),
    )
    return room, rest, scratch


def _hits(concepts: int) -> Hits:
    return Hits(
        np.zeros(concepts, np.int64),
        np.zeros(concepts + 1, np.int32),
        np.zeros(concepts + 1, np.uint8),
        np.zeros(2, np.int64),
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
