"""An index that is loaded: which subscriptions do these publications satisfy?

The arrays of a version are the bodies of the subscriptions, one after the other; what the language's fast
matcher makes of them (`INDEX`…), so that loading compares nothing and computes nothing; and who wants each of
its concepts, because equal subscriptions are one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from knowledge_manager.graphs.terms import Iri, Triple
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.matching.fast import FastMatcher
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.vectors import GraphPublication, encode_publication
from spark_analysis.graphs.index_files import Arrays, IndexVersion, refused
from watchdog.vector import VectorError

BODIES: Final = "bodies"
ENDS: Final = "ends"
WANTED: Final = "wanted"
"""Positions of the subscriptions of each concept, one concept after the other."""
WANTED_ENDS: Final = "wanted_ends"
INDEX: Final = "fast."
"""Before the names of the matcher's own arrays."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """The matches of some publications, one after the other: those of publication i are
    `positions[ends[i]:ends[i + 1]]`, rising; `undecided` has a flag for each.
    """

    ends: Array
    positions: Array
    undecided: Array
    faults: Sequence[str | None]
    """Why a publication could not be judged; it has no matches then."""


class GraphJudge:
    """The matcher of an index, with all its subscriptions."""

    def __init__(self, version: IndexVersion, table: MissionTable) -> None:
        self.arrays = version.arrays
        self._dictionary = table.dictionary
        try:
            own = {
                name.removeprefix(INDEX): array
                for name, array in version.arrays.items()
                if name.startswith(INDEX)
            }
            self._index = GraphIndex.from_arrays(own, version.header, table)
            self._wanted, self._ends = version.arrays[WANTED], version.arrays[WANTED_ENDS]
        except (ValueError, KeyError, TypeError) as error:
            raise refused(version.folder, f"the arrays are no index ({error})") from None

    def prepare(self) -> None:
        """Have the matcher compiled, which takes a minute the first time on a machine; what is compiled here
        goes along to workers."""
        nothing = Triple(Iri("urn:dens:nothing"), Iri("urn:dens:nothing"), Iri("urn:dens:nothing"))
        self.judge([encode_publication(GraphPublication(frozenset({nothing})), self._dictionary)])

    def judge(self, vectors: Sequence[bytes]) -> Found:
        """Return what each publication satisfies."""
        concepts: list[Array] = []
        undecided: list[Array] = []
        faults: list[str | None] = []
        for vector in vectors:
            try:
                found = self._index.find(vector)
            except VectorError as error:
                concepts.append(np.zeros(0, np.int32))
                undecided.append(np.zeros(0, bool))
                faults.append(str(error))
            else:
                concepts.append(found.concepts)
                undecided.append(found.is_undecided)
                faults.append(None)
        return self._of_subscribers(concepts, undecided, faults)

    def _of_subscribers(
        self, concepts: Sequence[Array], undecided: Sequence[Array], faults: Sequence[str | None]
    ) -> Found:
        """Put everybody who wants a concept in its place."""
        found = np.concatenate([np.zeros(0, np.int32), *concepts])
        publication = np.repeat(np.arange(len(concepts)), [len(one) for one in concepts])
        lengths = self._ends[found + 1] - self._ends[found]
        total = int(lengths.sum())
        shift = np.repeat(self._ends[found] - np.cumsum(lengths) + lengths, lengths)
        positions = self._wanted[np.arange(total) + shift]
        of = np.repeat(publication, lengths)
        flags = np.repeat(np.concatenate([np.zeros(0, bool), *undecided]), lengths)
        order = np.lexsort((positions, of))
        ends = np.zeros(len(concepts) + 1, np.int64)
        np.cumsum(np.bincount(of, minlength=len(concepts)), out=ends[1:])
        return Found(ends, positions[order], flags[order], faults)


@dataclass(frozen=True, slots=True)
class IndexParts:
    """What an index is written of."""

    arrays: Mapping[str, Array]
    header: Mapping[str, Any]


def index_parts(
    bodies: Sequence[bytes],
    table: MissionTable,
    seen: Sequence[bytes] = (),
    positions: Sequence[int] | None = None,
) -> IndexParts:
    """Return the index of these subscriptions; a bad body raises `VectorError`.

    Publications that were `seen` tell which of a subscription's parts are rare, by which it is found. A
    subscription is told by its place among the bodies, or by the `positions` that are given for them.
    """
    matcher = FastMatcher(table)
    for place, body in enumerate(bodies):
        matcher.add((place, 0), body)
    for vector in seen:
        matcher.found(vector)
    index, subscribers = matcher.index()
    arrays, header = index.to_arrays()
    wanted = np.concatenate([np.zeros(0, np.int64), *subscribers]) >> 8
    if positions is not None:
        wanted = np.asarray(positions, np.int64)[wanted]
    lengths = np.fromiter(map(len, bodies), np.int64, len(bodies))
    return IndexParts(
        {
            BODIES: np.frombuffer(b"".join(bodies), np.uint8),
            ENDS: _ends(lengths),
            WANTED: wanted.astype(np.int64),
            WANTED_ENDS: _ends(np.fromiter(map(len, subscribers), np.int64, len(subscribers))),
            **{INDEX + name: array for name, array in arrays.items()},
        },
        header,
    )


def bodies_in(arrays: Arrays) -> Iterator[bytes]:
    """Yield the bodies that an index holds, by position."""
    everything = arrays[BODIES].tobytes()
    for begin, end in pairwise(arrays[ENDS].tolist()):
        yield everything[begin:end]


def _ends(lengths: Array) -> Array:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
