"""`shared`: for subscriptions made of the same terms. One degree per concept; its matching subscribers are a
prefix.

Subscriptions made from a vocabulary's terms differ in little but their thresholds. Everything but threshold,
id and times is a *concept*: it is stored once, in the rows that `fast` uses, with the lowest threshold of its
subscribers. These are sorted by threshold, so a degree of the concept matches all subscribers up to a
position: a slice, which `match_slices` returns without copying.

    >>> matcher = SharedMatcher(None)
    >>> matcher.add((7, 0), bytes.fromhex("00000064c87f0101"))
    >>> matcher.add((8, 0), bytes.fromhex("00000064c87f0101"))
    >>> [len(part.keys) for part in matcher.match_slices(bytes.fromhex("000000000000960101"), 0, 0)]
    [2]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import AGGREGATOR_AT
from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.columns import floor_of, group_of, plain_columns, row_of
from plugins.fuzzy.matching.fast import COMPILE_FROM, check_ordinary
from plugins.fuzzy.matching.population import NotificationReader
from plugins.fuzzy.matching.row_search import RowSearch
from plugins.kernels.paged_numbers import PagedNumbers
from plugins.kernels.rows.rows import RowStore
from plugins.key_numbers import KeyNumbers
from plugins.language import Match, SubscriptionKey
from plugins.matching_work import MatchingWork

Keys = npt.NDArray[np.uint32]

THRESHOLDS = 16
NOBODY = 0


@dataclass(frozen=True, slots=True)
class Slice:
    """Subscriptions that match with this degree. A key is a number of `plugins.key_numbers`, mostly
    origin·256 + id; the array belongs to the matcher.
    """

    degree_u8: int
    keys: Keys


class Concept:
    """The subscribers of one concept, sorted by threshold: keys[: ends[t]] need a degree of at most 17·t."""

    __slots__ = ("ends", "keys", "words")

    def __init__(self, words: bytes, keys: Keys, ends: npt.NDArray[np.int64]) -> None:
        self.words = words
        self.keys = keys
        self.ends = ends

    @property
    def lowest(self) -> int:
        """Return the lowest threshold."""
        return int(np.argmax(self.ends > 0))

    def enter(self, key: int, threshold: int) -> None:
        """Add a subscriber: the first of every higher threshold moves to the end of it."""
        count = int(self.ends[-1])
        if count == len(self.keys):
            self.keys = np.concatenate([self.keys, np.zeros(max(2, count // 4), np.uint32)])
        for higher in range(THRESHOLDS - 1, threshold, -1):
            self.keys[self.ends[higher]] = self.keys[self.ends[higher - 1]]
        self.keys[self.ends[threshold]] = key
        self.ends[threshold:] += 1

    def leave(self, key: int) -> None:
        """Remove a subscriber: the last of its and of every higher threshold closes the gap."""
        gap = int(np.argmax(self.keys[: self.ends[-1]] == key))
        threshold = int(np.searchsorted(self.ends, gap, side="right"))
        for higher in range(threshold, THRESHOLDS):
            self.keys[gap] = self.keys[self.ends[higher] - 1]
            gap = int(self.ends[higher]) - 1
        self.ends[threshold:] -= 1


class SharedMatcher:
    """Holds concepts as rows and subscribers as slices."""

    def __init__(
        self,
        table: MissionTable | None,
        features: str = "subset",
        feature_bytes: int = 1,
        compile_from: int = COMPILE_FROM,
    ) -> None:
        if features not in FEATURE_CONDITIONS:
            raise ValueError(f'unknown feature condition "{features}" (expected one of {FEATURE_CONDITIONS})')
        self._codec = FuzzyCodec(table, feature_bytes)
        self._reader = NotificationReader(self._codec)
        self.work = MatchingWork()
        self.store = RowStore()
        self.search = RowSearch(self.store, features == "exact", compile_from, self.work)
        self._numbers: dict[bytes, int] = {}
        self._concepts: list[Concept | None] = []
        self._free: list[int] = []
        self._held = PagedNumbers()
        """By the number of a key: the position of its concept plus one."""
        self._keys = KeyNumbers()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription; a known key is replaced. An invalid body raises `VectorError` and changes
        nothing.
        """
        parts = self._codec.subscription(body)
        self.remove(key)
        number = self._keys.take(key)
        words = _words(body)
        if words not in self._numbers:
            concept = Concept(words, np.zeros(1, np.uint32), np.zeros(THRESHOLDS, np.int64))
            self.store.put(group_of(parts), self._entered(concept), *row_of(parts))
        position = self._numbers[words]
        found = self._concept(position)
        found.enter(number, parts.threshold)
        self.store.change_floor(position, floor_of(found.lowest))
        self._held.put(number, position + 1)

    def remove(self, key: SubscriptionKey) -> None:
        number = self._keys.number_of(key)
        if number is None or self._held.get(number) == NOBODY:
            return
        position = self._held.get(number) - 1
        self._held.put(number, NOBODY)
        self._keys.release(key)
        concept = self._concept(position)
        concept.leave(number)
        if concept.ends[-1]:
            self.store.change_floor(position, floor_of(concept.lowest))
            return
        self.store.remove(position)
        del self._numbers[concept.words]
        self._concepts[position] = None
        self._free.append(position)

    def add_all(self, keys: Keys, bodies: npt.NDArray[np.uint8]) -> None:
        """Add many new subscriptions to new concepts at once: bodies of one length with plain aggregators.

        No key and no concept may be held; origins are below 16,711,680. An invalid body raises
        `VectorError` and changes nothing.
        """
        check_ordinary(keys)
        thresholds = bodies[:, AGGREGATOR_AT] >> 4
        first, of_row = _distinct(bodies)
        order = np.argsort(of_row.astype(np.int64) * THRESHOLDS + thresholds, kind="stable")
        sorted_keys = np.ascontiguousarray(keys[order])
        borders = np.arange(len(first) * THRESHOLDS + 1)
        ends = np.searchsorted(of_row[order] * THRESHOLDS + thresholds[order], borders)
        rows = bodies[first]
        rows[:, AGGREGATOR_AT] &= 15
        columns = plain_columns(self._codec, rows)
        numbers = np.empty(len(first), np.uint32)
        floors = np.empty(len(first), np.uint8)
        for each, row in enumerate(rows):
            begin = ends[each * THRESHOLDS]
            own = ends[each * THRESHOLDS + 1 : (each + 1) * THRESHOLDS + 1] - begin
            concept = Concept(_words(row.tobytes()), sorted_keys[begin : begin + own[-1]], own)
            numbers[each] = self._entered(concept)
            floors[each] = floor_of(concept.lowest)
        for group, chosen in columns.groups:
            cores, slopes = columns.cores[chosen], columns.slopes[chosen]
            self.store.put_all(group, numbers[chosen], floors[chosen], cores, slopes)
        self._held.put_all(keys, numbers[of_row] + 1)

    def match_slices(self, vector: bytes, event_ms: int, now_ms: int) -> list[Slice]:
        """Return the matches of this notification, one slice per concept. They are valid until the next
        change.
        """
        numbers, degrees = self.search.one(self._reader.read(vector, event_ms, now_ms))
        return self.slices(numbers, degrees)

    def slices(self, numbers: Keys, degrees: npt.NDArray[np.uint8]) -> list[Slice]:
        """Return the subscribers of these concepts for which these degrees suffice."""
        found = []
        for number, degree in zip(numbers.tolist(), degrees.tolist(), strict=True):
            concept = self._concept(number)
            found.append(Slice(degree, concept.keys[: concept.ends[degree // 17]]))
        return found

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        slices = self.match_slices(vector, event_ms, now_ms)
        key_of = self._keys.key_of
        pairs = [(key_of(number), part.degree_u8) for part in slices for number in part.keys.tolist()]
        return [Match(key, degree) for key, degree in sorted(pairs)]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)

    def _concept(self, number: int) -> Concept:
        concept = self._concepts[number]
        assert concept is not None, "a number is freed only when its concept has no row"
        return concept

    def _entered(self, concept: Concept) -> int:
        """Number a new concept."""
        if self._free:
            number = self._free.pop()
            self._concepts[number] = concept
        else:
            number = len(self._concepts)
            self._concepts.append(concept)
        self._numbers[concept.words] = number
        return number


def _words(body: bytes) -> bytes:
    """Return the bytes of a concept: aggregator, pattern, constraints and features."""
    return bytes([body[AGGREGATOR_AT] & 15]) + body[AGGREGATOR_AT + 1 :]


def _distinct(bodies: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first row of every concept, and the concept of every row."""
    concepts = bodies[:, AGGREGATOR_AT:].copy()
    concepts[:, 0] &= 15
    mixed = concepts[:, 0].astype(np.uint64)
    for column in range(1, concepts.shape[1]):
        mixed = (mixed ^ concepts[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    _, first, of_row = np.unique(mixed, return_index=True, return_inverse=True)
    if not (concepts == concepts[first[of_row]]).all():
        raise ValueError("two concepts have the same 64-bit digest; add these subscriptions one by one")
    return first, of_row
