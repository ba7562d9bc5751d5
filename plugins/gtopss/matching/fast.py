"""`fast`: the default. Equal patterns are one concept with a list of subscribers; concepts are stored in flat
arrays, each filed once under the access key with the fewest hits.

New concepts wait in a separate index, which is rebuilt as more come, until there are enough for a second,
small index; removals set a mark. Both are merged into the large one at a tenth of its size. Without Numba
every concept is evaluated by the definition, with the same answers and the same work.

    >>> from knowledge_manager.mission_table import load_mission_table
    >>> matcher = FastMatcher(load_mission_table(["reports"]))
    >>> matcher.add((7, 0), bytes.fromhex("00002003010569f3ed00030100050500020600010218122500"))
    >>> len(matcher)
    1
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.canonical import canonical
from plugins.gtopss.match import Verdict, judged
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.matching.matcher import MATCHED
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import decode_pattern, decode_publication
from plugins.kernels.compiled import is_available
from plugins.language import Match, SubscriptionKey

WAITING: Final = 128
"""New concepts that wait for the second index."""

FOLDED_AT: Final = 10
"""The second index and the marks are merged in at this fraction of the whole."""

REFILED_AFTER: Final = 32
"""Publications after which concepts that were filed before any publication are filed again."""

Keys = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Concept:
    """A pattern and its subscribers: (key, arrival number)."""

    pattern: Pattern
    subscribers: dict[SubscriptionKey, int] = field(default_factory=dict)
    level: "_Level | None" = None
    number: int = 0
    _keys: Keys | None = None

    def keys(self) -> Keys:
        """Return the subscribers as origin·256 + id, rising."""
        if self._keys is None:
            found = [origin << 8 | id_ for origin, id_ in self.subscribers]
            self._keys = np.sort(np.array(found, np.int64))
        return self._keys

    def enter(self, key: SubscriptionKey, arrival: int) -> None:
        self.subscribers[key] = arrival
        self._keys = None

    def leave(self, key: SubscriptionKey) -> None:
        del self.subscribers[key]
        self._keys = None


class _Level:
    """An index, and the concepts that it numbers."""

    def __init__(self, concepts: list[Concept], table: MissionTable, before: GraphIndex | None) -> None:
        self.index = GraphIndex.build([concept.pattern for concept in concepts], table, before)
        self.concepts = concepts
        self.removed = 0
        self.is_new = before is None or before.statistics.publications[0] < REFILED_AFTER
        for number, concept in enumerate(concepts):
            concept.level, concept.number = self, number

    def remove(self, concept: Concept) -> None:
        self.index.mark_removed(concept.number)
        self.removed += 1

    def remaining(self) -> list[Concept]:
        """Return the concepts that are not marked."""
        return [concept for concept in self.concepts if concept.subscribers]


class FastMatcher:
    """Holds concepts in a large index, a small one, and a few that wait."""

    def __init__(self, table: MissionTable, *, is_compiled: bool = True) -> None:
        self._table = table
        self._is_compiled = is_compiled and is_available()
        self._of_pattern: dict[Pattern, Concept] = {}
        self._of_key: dict[SubscriptionKey, Concept] = {}
        self._large: _Level | None = None
        self._small: _Level | None = None
        self._waiting: dict[int, Concept] = {}
        self._recent: GraphIndex | None = None
        """The index of the waiting concepts."""
        self._arrivals = 0
        self.work = 0
        """Units of work so far: statements of publications, and the work of their concepts."""

    def __len__(self) -> int:
        return len(self._of_key)

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        self.enter(key, decode_pattern(body, self._table.dictionary))

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        """Add a pattern under a key; a known key is replaced."""
        self.remove(key)
        form = canonical(pattern)
        concept = self._of_pattern.get(form)
        if concept is None:
            concept = self._of_pattern[form] = Concept(form)
            self._waiting[id(concept)] = concept
            self._recent = None
        concept.enter(key, self._arrivals)
        self._of_key[key] = concept
        self._arrivals += 1

    def remove(self, key: SubscriptionKey) -> None:
        concept = self._of_key.pop(key, None)
        if concept is None:
            return
        concept.leave(key)
        if concept.subscribers:
            return
        del self._of_pattern[concept.pattern]
        if concept.level is None:
            del self._waiting[id(concept)]
            self._recent = None
        else:
            concept.level.remove(concept)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this publication, ordered by key. Invalid bytes raise `VectorError`."""
        return self._matches(self.found(vector), self._arrivals)

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Return an iterator over the matches of each publication, in order; later subscriptions are
        excluded.
        """
        return self._in_turn([vector for vector, _ in notifications], self._arrivals)

    def _in_turn(self, vectors: Sequence[bytes], arrivals: int) -> Iterator[tuple[int, list[Match]]]:
        for position, vector in enumerate(vectors):
            yield position, self._matches(self.found(vector), arrivals)

    def _matches(self, found: list[tuple[Concept, Verdict]], arrivals: int) -> list[Match]:
        pairs = [
            (key, verdict)
            for concept, verdict in found
            for key, arrival in concept.subscribers.items()
            if arrival < arrivals
        ]
        return [Match(key, *MATCHED[verdict]) for key, verdict in sorted(pairs, key=_key)]

    def found(self, vector: bytes) -> list[tuple[Concept, Verdict]]:
        """Return the concepts that a publication matches, with the verdicts."""
        if not self._is_compiled or not self._of_pattern:
            return self._found_plainly(vector)
        self._file()
        matched: list[tuple[Concept, Verdict]] = []
        statements = 0
        for index, concepts in self._indexes():
            before = index.work
            hits = index.find(vector)
            self.work += index.work - before
            statements = hits.statements
            for number, is_undecided in zip(hits.concepts.tolist(), hits.is_undecided.tolist(), strict=True):
                matched.append((concepts[number], Verdict.UNDECIDED if is_undecided else Verdict.MATCHED))
        self.work += statements
        return matched

    def _found_plainly(self, vector: bytes) -> list[tuple[Concept, Verdict]]:
        """Return the same by the definition."""
        told = decode_publication(vector, self._table.dictionary)
        self.work += len(told.graph)
        statements = Statements.of(told, self._table.taxonomy)
        matched: list[tuple[Concept, Verdict]] = []
        for concept in self._of_pattern.values():
            verdict, work = judged(concept.pattern, statements)
            self.work += work
            if verdict is not Verdict.NOT:
                matched.append((concept, verdict))
        return matched

    def _indexes(self) -> Iterator[tuple[GraphIndex, Sequence[Concept]]]:
        """Yield the indexes with the concepts that they number."""
        for level in (self._large, self._small):
            if level is not None:
                yield level.index, level.concepts
        if self._waiting:
            waiting = list(self._waiting.values())
            if self._recent is None:
                self._recent = GraphIndex.build([concept.pattern for concept in waiting], self._table)
            yield self._recent, waiting

    def index(self) -> tuple[GraphIndex, list[Keys]]:
        """Return everything in one index, and the subscribers of each concept by their keys, to be stored and
        searched elsewhere.
        """
        concepts = list(self._of_pattern.values())
        before = None if self._large is None else self._large.index
        level = _Level(concepts, self._table, before)
        self._large, self._small, self._recent = level, None, None
        self._waiting.clear()
        return level.index, [concept.keys() for concept in concepts]

    def _file(self) -> None:
        """Index waiting concepts, merge the small index, and file again, when due."""
        large, small = self._large, self._small
        added = len(self._waiting) + (0 if small is None else len(small.concepts))
        whole = 0 if large is None else len(large.concepts)
        removed = sum(level.removed for level in (large, small) if level is not None)
        if large is None or (added + removed) * FOLDED_AT > whole + WAITING * FOLDED_AT or _is_refiled(large):
            self.index()
        elif len(self._waiting) > WAITING:
            concepts = [*(() if small is None else small.remaining()), *self._waiting.values()]
            self._small = _Level(concepts, self._table, large.index)
            self._waiting.clear()
            self._recent = None


def _is_refiled(level: _Level) -> bool:
    """Return whether a level was filed without experience, and there is some now."""
    return level.is_new and bool(level.index.statistics.publications[0] >= REFILED_AFTER)


def _key(pair: tuple[SubscriptionKey, Verdict]) -> SubscriptionKey:
    return pair[0]
