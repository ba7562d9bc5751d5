"""The forest of coverings: subscriptions below others that stand for them (paper 004, §4.4 and figure
5.c).

No root covers another root. A subscription that a root covers stands in its tree; one that covers roots
takes their place and they become its children. What a root does not match, nothing in its tree matches.
(The paper compares slopes the wrong way round, and covers means across features; see docs/matching.md.)

    >>> forest = CoveringForest()
    >>> forest.insert((7, 0), bytes.fromhex("00000000000064c8280101"))
    >>> forest.insert((8, 0), bytes.fromhex("0000000000006e96280101"))
    >>> forest.parent((8, 0))
    (7, 0)
"""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.columns import floor_of, plain_fields
from plugins.fuzzy.vectors import SubscriptionVector
from plugins.kernels import cover
from plugins.kernels.compiled import compiled, is_available
from plugins.language import SubscriptionKey
from plugins.relations import ForestStatistics
from watchdog.aggregators import ASCENDING, WITH_PATTERN, WITH_RULES
from watchdog.membership import SLOPES
from watchdog.tokens import NOT

_RANKS: Final = tuple(ASCENDING.index(kind) if kind in ASCENDING else -1 for kind in range(16))
"""The place of each aggregator among those that can be compared; the others have none."""

T = TypeVar("T", np.uint8, np.int64)

COMPILE_FROM: Final = 500
"""With fewer subscriptions nobody waits for a compiler."""


class CoveringForest:
    """Keeps subscriptions in trees of covering, through insertions and removals."""

    def __init__(self, features: str = "subset", feature_bytes: int = 1) -> None:
        self._codec = FuzzyCodec(None, feature_bytes)
        self._forest = cover.Forest(
            nodes=np.zeros((0, cover.NODE_FIELDS), np.int64),
            content=np.zeros(0, np.int64),
            groups=np.zeros((0, cover.GROUP_FIELDS), np.int64),
            directory=np.full(1, cover.NOTHING, np.int64),
            holders=np.zeros((cover.AGE + 1, 0), np.int64),
            holder_masks=np.zeros((cover.AGE + 1, 0), np.int64),
            held=np.zeros(cover.AGE + 1, np.int64),
            lanes=np.zeros((0, cover.LANE_BYTES), np.uint8),
            lane_nodes=np.zeros((0, cover.LANES), np.int64),
            previous=np.zeros(0, np.int64),
            asked=np.zeros(2 * cover.COMPARED, np.uint8),
            passed=np.zeros(cover.LANES, np.uint8),
            counters=np.array([0, 0, 0, cover.NOTHING]),
            slopes=np.array(SLOPES, np.int64),
            ranks=np.array(_RANKS, np.int64),
            exact=features == "exact",
        )
        self._numbers: dict[SubscriptionKey, int] = {}
        self._keys: list[SubscriptionKey | None] = []
        self._free: dict[int, list[int]] = {}
        self._content_used = 0
        self._patterns: dict[tuple[int, bytes], int] = {}

    def __len__(self) -> int:
        """Return how many subscriptions stand in it."""
        return len(self._numbers)

    def insert(self, key: SubscriptionKey, vector: bytes) -> None:
        """Find this subscription its place; a known key is replaced. A bad vector raises `VectorError`."""
        parts = self._codec.subscription(vector)
        self.remove(key)
        self._make_room(1, 3 * len(parts.attributes))
        number = self._new(key, len(parts.attributes))
        self._describe(number, parts)
        self._run(cover.insert, 1, number)

    def remove(self, key: SubscriptionKey) -> None:
        """Let it go; an unknown key is no error. The children of a root find another root or become roots."""
        number = self._numbers.pop(key, None)
        if number is not None:
            self._run(cover.remove, 1, number)
            self._forget(number)

    def insert_all(self, keys: list[SubscriptionKey], vectors: npt.NDArray[np.uint8]) -> None:
        """Insert many new subscriptions of one length, with plain aggregators, in this order."""
        fields = plain_fields(vectors, self._codec.feature_bytes)
        count, size, _ = fields.triples.shape
        self._make_room(count, 3 * size * count)
        chosen = self._new_ones(keys, size)
        nodes = self._forest.nodes
        described = (fields.events, fields.needs, fields.aged, fields.kinds, fields.floors)
        for field, values in enumerate(described):
            nodes[chosen, field] = values
        nodes[chosen, cover.PATTERN] = cover.NO_PATTERN
        nodes[chosen, cover.MONOTONE] = 1
        at = nodes[chosen, cover.CONTENT][:, None] + np.arange(3 * size)
        self._forest.content[at] = fields.triples.reshape(count, 3 * size)
        self._run(cover.insert_all, count, chosen)

    def remove_all(self, keys: list[SubscriptionKey]) -> None:
        """Remove many subscriptions that are held, in this order."""
        chosen = [self._numbers.pop(key) for key in keys]
        self._run(cover.remove_all, len(chosen), np.array(chosen, np.int64))
        for number in chosen:
            self._forget(number)

    def parent(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return who covers it, or None for a root."""
        number = int(self._forest.nodes[self._numbers[key], cover.PARENT])
        return None if number == cover.NOTHING else self._keys[number]

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Return those directly below it, ordered by key."""
        return sorted(self._key(number) for number in self._below(self._numbers[key]))

    def roots(self) -> list[SubscriptionKey]:
        """Return the roots, ordered by key."""
        parents = self._forest.nodes[:, cover.PARENT]
        return sorted(key for key, number in self._numbers.items() if parents[number] == cover.NOTHING)

    def statistics(self) -> ForestStatistics:
        """Return how many roots there are, how deep the trees go and how large the largest is."""
        deepest = largest = roots = 0
        for key in self.roots():
            roots += 1
            level, size, depth = [self._numbers[key]], 0, 0
            while level:
                size += len(level)
                depth += 1
                level = [below for number in level for below in self._below(number)]
            deepest, largest = max(deepest, depth), max(largest, size)
        return ForestStatistics(len(self), roots, deepest, largest)

    def _below(self, number: int) -> Iterator[int]:
        child = int(self._forest.nodes[number, cover.CHILD])
        while child != cover.NOTHING:
            yield child
            child = int(self._forest.nodes[child, cover.NEXT])

    def _key(self, number: int) -> SubscriptionKey:
        key = self._keys[number]
        assert key is not None, "a node in a list has a key"
        return key

    def _run(self, function: Any, work: int, argument: Any) -> None:
        if max(work, len(self._numbers)) >= COMPILE_FROM and is_available():
            function = compiled(function)
        function(self._forest, argument)

    def _new(self, key: SubscriptionKey, size: int) -> int:
        """Return an unused node with room for its constraints."""
        free = self._free.get(size)
        if free:
            number = free.pop()
            self._keys[number] = key
        else:
            number = len(self._keys)
            self._keys.append(key)
            self._forest.nodes[number, cover.SIZE] = size
            self._forest.nodes[number, cover.CONTENT] = self._content_used
            self._content_used += 3 * size
        self._numbers[key] = number
        return number

    def _new_ones(self, keys: list[SubscriptionKey], size: int) -> npt.NDArray[np.int64]:
        """Return as many unused nodes at the end, with room for their constraints."""
        first = len(self._keys)
        chosen = np.arange(first, first + len(keys))
        self._keys.extend(keys)
        self._numbers.update(zip(keys, chosen.tolist(), strict=True))
        self._forest.nodes[chosen, cover.SIZE] = size
        self._forest.nodes[chosen, cover.CONTENT] = self._content_used + 3 * size * np.arange(len(keys))
        self._content_used += 3 * size * len(keys)
        return chosen

    def _forget(self, number: int) -> None:
        self._keys[number] = None
        self._free.setdefault(int(self._forest.nodes[number, cover.SIZE]), []).append(number)

    def _describe(self, number: int, parts: SubscriptionVector) -> None:
        age = 8 * parts.feature_bytes - 1
        needs = sum(1 << index for index in parts.attributes if index != age)
        node = self._forest.nodes[number]
        node[: cover.FLOOR] = (parts.event, needs, age in parts.attributes, parts.aggregator)
        node[cover.FLOOR] = floor_of(parts.threshold)
        node[cover.PATTERN] = self._pattern(parts)
        node[cover.MONOTONE] = _grows(parts)
        start = int(node[cover.CONTENT])
        self._forest.content[start : start + 3 * len(parts.constraints)] = np.array(parts.constraints).ravel()

    def _pattern(self, parts: SubscriptionVector) -> int:
        """Return a number for the block: equal blocks of equal aggregators, equal numbers."""
        if _RANKS[parts.aggregator] >= 0:
            return cover.NO_PATTERN
        return self._patterns.setdefault((parts.aggregator, parts.block), len(self._patterns) + 1)

    def _make_room(self, nodes: int, content: int) -> None:
        """Make room for as many new nodes, and as many new groups, as there may be; forget groups without
        nodes.
        """
        old = self._forest
        wanted = len(self._keys) + nodes
        groups = int(old.counters[cover.GROUP_COUNT]) + nodes
        fits = wanted <= len(old.nodes) and groups <= len(old.groups)
        if fits and self._content_used + content <= len(old.content):
            return
        room = wanted + wanted // 2 + 16
        content_room = self._content_used + content
        self._forest = old._replace(
            nodes=_grown(old.nodes, (room, cover.NODE_FIELDS)),
            content=_grown(old.content, (content_room + content_room // 2 + 48,)),
            groups=np.zeros((room, cover.GROUP_FIELDS), np.int64),
            holders=np.zeros((cover.AGE + 1, room), np.int64),
            holder_masks=np.zeros((cover.AGE + 1, room), np.int64),
            directory=np.full(2 * room, cover.NOTHING, np.int64),
            lanes=_grown(old.lanes, (room, cover.LANE_BYTES)),
            lane_nodes=_grown(old.lane_nodes, (room, cover.LANES)),
            previous=_grown(old.previous, (room,)),
        )
        known = old.groups[: old.counters[cover.GROUP_COUNT]]
        with_roots = known[known[:, cover.ROOTS] > 0]
        numbers = np.fromiter(self._numbers.values(), np.int64, len(self._numbers))
        self._run(cover.enter_groups, len(numbers), (with_roots, numbers))


def _grows(parts: SubscriptionVector) -> bool:
    """Tell whether larger degrees never give less."""
    if WITH_RULES >> parts.aggregator & 1:
        return False
    return not WITH_PATTERN >> parts.aggregator & 1 or len(parts.block) == 1 or NOT not in parts.block


def _grown(array: npt.NDArray[T], shape: tuple[int, ...]) -> npt.NDArray[T]:
    """Return a copy with at least this much room."""
    grown = np.zeros(np.maximum(shape, array.shape), array.dtype)
    grown[tuple(slice(size) for size in array.shape)] = array
    return grown
