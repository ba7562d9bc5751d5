"""A loaded index: finds the subscriptions that publications match.

The arrays of a version are the concatenated bodies of the subscriptions; the language's fast matcher in array
form (`INDEX`…), so that loading computes nothing; and the subscriptions of each concept, because equal
subscriptions share one concept.
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
"""Positions of the subscriptions of each concept, concatenated."""
WANTED_ENDS: Final = "wanted_ends"
INDEX: Final = "fast."
"""Prefix of the names of the matcher's own arrays."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """The matches of several publications: those of publication i are `positions[ends[i]:ends[i + 1]]`,
    ascending; `undecided` has a flag for each.
    """

    ends: Array
    positions: Array
    undecided: Array
    faults: Sequence[str | None]
    """Why a publication could not be matched; it has no matches then."""


class GraphJudge:
    """The matcher of an index."""

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
            raise refused(version.folder, f"the arrays are not an index ({error})") from None

    def prepare(self) -> None:
        """Compile the matcher, which takes a minute the first time; the compiled code is shipped
        to workers.
        """
        nothing = Triple(Iri("urn:dens:nothing"), Iri("urn:dens:nothing"), Iri("urn:dens:nothing"))
        self.judge([encode_publication(GraphPublication(frozenset({nothing})), self._dictionary)])

    def judge(self, vectors: Sequence[bytes]) -> Found:
        """Return the matches of each publication."""
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
        """Expand the concepts into their subscriptions."""
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
    """The arrays and the header of an index."""

    arrays: Mapping[str, Array]
    header: Mapping[str, Any]


def index_parts(
    bodies: Sequence[bytes],
    table: MissionTable,
    seen: Sequence[bytes] = (),
    positions: Sequence[int] | None = None,
) -> IndexParts:
    """Return the index of these subscriptions; an invalid body raises `VectorError`.

    The sample publications in `seen` show which parts of a subscription are rare, by which it is indexed. A
    subscription is identified by its position among the bodies, or by `positions`.
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
    """Yield the bodies of an index, by position."""
    everything = arrays[BODIES].tobytes()
    for begin, end in pairwise(arrays[ENDS].tolist()):
        yield everything[begin:end]


def _ends(lengths: Array) -> Array:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
