"""The nodes of a forest of coverings by their keys: room for them, and what stands below what.

Arrays are made here and the searches of `plugins.kernels.cover` run in them, compiled once there are many
nodes. What a node says (`describe`) is the language's.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from plugins.kernels import cover
from plugins.kernels.compiled import compiled, is_available
from plugins.language import SubscriptionKey
from plugins.relations import ForestStatistics

Numbers = npt.NDArray[np.int64]
T = TypeVar("T", np.uint8, np.int64)

COMPILE_FROM: Final = 500
"""With fewer subscriptions compilation would only delay."""


class CoverNodes:
    """Nodes in trees of covering. `width` numbers describe a constraint; ranks, slopes and `is_exact` are as
    `plugins.kernels.cover` wants them.
    """

    def __init__(
        self, width: int, ranks: Sequence[int], slopes: Sequence[int] = (), *, is_exact: bool = False
    ) -> None:
        self.forest = cover.Forest(
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
            counters=np.array([0, 0, 0, cover.NOTHING, cover.MOST_ATTRIBUTES, 0]),
            slopes=np.array(slopes, np.int64),
            ranks=np.array(ranks, np.int64),
            exact=is_exact,
            width=width,
        )
        self.numbers: dict[SubscriptionKey, int] = {}
        self._keys: list[SubscriptionKey | None] = []
        self._free: dict[int, list[int]] = {}
        self._content_used = 0

    def __len__(self) -> int:
        return len(self.numbers)

    def new(self, keys: Sequence[SubscriptionKey], size: int) -> Numbers:
        """Return nodes for new keys, with room for this many constraints each, to be described
        and inserted.
        """
        self._make_room(len(keys), self.forest.width * size * len(keys))
        free = self._free.get(size, [])
        if len(keys) == 1 and free:
            number = free.pop()
            self._keys[number] = keys[0]
            self.numbers[keys[0]] = number
            return np.array([number])
        first = len(self._keys)
        chosen = np.arange(first, first + len(keys))
        self._keys.extend(keys)
        self.numbers.update(zip(keys, chosen.tolist(), strict=True))
        each = self.forest.width * size
        self.forest.nodes[chosen, cover.SIZE] = size
        self.forest.nodes[chosen, cover.CONTENT] = self._content_used + each * np.arange(len(keys))
        self._content_used += each * len(keys)
        return chosen

    def describe(self, chosen: Numbers, heads: npt.ArrayLike, constraints: npt.ArrayLike) -> None:
        """Say what nodes are: event, mask, age or not, kind and floor in the columns of `heads`, then pattern
        and whether it grows, and the numbers of their constraints, row by row.
        """
        nodes = self.forest.nodes
        head = np.asarray(heads, np.int64).reshape(len(chosen), 7)
        nodes[chosen[:, None], np.arange(5)] = head[:, :5]
        nodes[chosen, cover.PATTERN], nodes[chosen, cover.MONOTONE] = head[:, 5], head[:, 6]
        rows = np.asarray(constraints, np.int64).reshape(len(chosen), -1)
        self.forest.content[nodes[chosen, cover.CONTENT][:, None] + np.arange(rows.shape[1])] = rows

    def insert(self, chosen: Numbers) -> None:
        """Find described nodes their places, in this order."""
        if len(chosen) == 1:
            self._run(cover.insert, 1, int(chosen[0]))
        else:
            self._run(cover.insert_all, len(chosen), chosen)

    def remove(self, keys: Sequence[SubscriptionKey]) -> None:
        """Release held keys, in this order. The children of a root find another root or become roots."""
        chosen = [self.numbers.pop(key) for key in keys]
        if len(chosen) == 1:
            self._run(cover.remove, 1, chosen[0])
        else:
            self._run(cover.remove_all, len(chosen), np.array(chosen, np.int64))
        for number in chosen:
            self._keys[number] = None
            self._free.setdefault(int(self.forest.nodes[number, cover.SIZE]), []).append(number)

    def move(self, key: SubscriptionKey, parent: SubscriptionKey) -> None:
        """Put a node, with its children, below another."""
        cover.unlink(self.forest, self.numbers[key])
        cover.link(self.forest, self.numbers[key], self.numbers[parent])

    def parent(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return who covers it, or None for a root."""
        number = int(self.forest.nodes[self.numbers[key], cover.PARENT])
        return None if number == cover.NOTHING else self._keys[number]

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Return those directly below it, ordered by key."""
        return sorted(self._key(number) for number in self._below(self.numbers[key]))

    def roots(self) -> list[SubscriptionKey]:
        """Return the roots, ordered by key."""
        parents = self.forest.nodes[:, cover.PARENT]
        return sorted(key for key, number in self.numbers.items() if parents[number] == cover.NOTHING)

    def statistics(self) -> ForestStatistics:
        """Return how many roots there are, how deep the trees go and how large the largest is."""
        deepest = largest = roots = 0
        for key in self.roots():
            roots += 1
            level, size, depth = [self.numbers[key]], 0, 0
            while level:
                size += len(level)
                depth += 1
                level = [below for number in level for below in self._below(number)]
            deepest, largest = max(deepest, depth), max(largest, size)
        return ForestStatistics(len(self), roots, deepest, largest)

    def _below(self, number: int) -> Iterator[int]:
        child = int(self.forest.nodes[number, cover.CHILD])
        while child != cover.NOTHING:
            yield child
            child = int(self.forest.nodes[child, cover.NEXT])

    def _key(self, number: int) -> SubscriptionKey:
        key = self._keys[number]
        assert key is not None, "a node in a list has a key"
        return key

    def _run(self, function: Any, work: int, argument: Any) -> None:
        if max(work, len(self.numbers)) >= COMPILE_FROM and is_available():
            function = compiled(function)
        function(self.forest, argument)

    def _make_room(self, nodes: int, content: int) -> None:
        """Make room for as many new nodes, and as many new groups, as there may be; forget groups without
        nodes.
        """
        old = self.forest
        wanted = len(self._keys) + nodes
        groups = int(old.counters[cover.GROUP_COUNT]) + nodes
        fits = wanted <= len(old.nodes) and groups <= len(old.groups)
        if fits and self._content_used + content <= len(old.content):
            return
        room = wanted + wanted // 2 + 16
        content_room = self._content_used + content
        self.forest = old._replace(
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
        numbers = np.fromiter(self.numbers.values(), np.int64, len(self.numbers))
        self._run(cover.enter_groups, len(numbers), (with_roots, numbers))


def _grown(array: npt.NDArray[T], shape: tuple[int, ...]) -> npt.NDArray[T]:
    """Return a copy with at least this much room."""
    grown = np.zeros(np.maximum(shape, array.shape), array.dtype)
    grown[tuple(slice(size) for size in array.shape)] = array
    return grown
