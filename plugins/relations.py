"""How two subscriptions of one language relate, what serves in place of both, and who stands below whom."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from plugins.language import SubscriptionKey


class Relations(Protocol):
    """Answers about bodies of one language. An answer may be too careful, never wrong: `covers` says
    True, and `intersects` False, only where it is certain.
    """

    def covers(self, one: bytes, other: bytes) -> bool:
        """Say whether whatever satisfies `other` satisfies `one` too."""
        ...

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Say whether something may satisfy both."""
        ...

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body that lets pass whatever satisfies either, or None where none is worth it."""
        ...

    def forest(self) -> "Forest":
        """Return an empty forest of coverings; `PlainForest(self.covers)` where the language has no better
        one.
        """
        ...


class PlainCovers:
    """An index made of nothing but "does one stand for the other": every body is compared with every root."""

    def __init__(self, stands_for: Callable[[bytes, bytes], bool]) -> None:
        self._stands_for = stands_for
        self._bodies: dict[SubscriptionKey, bytes] = {}
        self._above: dict[SubscriptionKey, SubscriptionKey | None] = {}

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Put it below a root that stands for it; else the roots that it stands for go below it."""
        self._stands_for(body, body)  # which refuses what is no body, before anything changes
        self._bodies[key] = body
        self._place(key)

    def _place(self, key: SubscriptionKey) -> None:
        body = self._bodies[key]
        roots = [one for one, over in self._above.items() if over is None and one != key]
        above = next((root for root in roots if self._stands_for(self._bodies[root], body)), None)
        self._above[key] = above
        if above is None:
            for root in roots:
                if self._stands_for(body, self._bodies[root]):
                    self._above[root] = key

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; those below it find another root or become roots."""
        if self._bodies.pop(key, None) is None:
            return
        del self._above[key]
        for below in [one for one, over in self._above.items() if over == key]:
            self._place(below)

    def cover_of(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return one that stands for it, or None for a root."""
        return self._above.get(key)


@dataclass(frozen=True, slots=True)
class ForestStatistics:
    """What a forest is good for: only roots must be matched, or forwarded, before anything else is."""

    subscriptions: int
    roots: int
    deepest: int
    largest_tree: int

    @property
    def spared(self) -> float:
        """Return the share of subscriptions that stand below a root."""
        return 1 - self.roots / self.subscriptions if self.subscriptions else 0.0


class Forest(Protocol):
    """Subscriptions below others that stand for them. No root covers another root."""

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Find a new subscription its place. A bad body raises `VectorError`."""
        ...

    def roots(self) -> list[SubscriptionKey]:
        """Return those that nobody covers, ordered by key."""
        ...

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Return those directly below it, ordered by key."""
        ...

    def statistics(self) -> ForestStatistics:
        """Return how many roots there are, how deep the trees go and how large the largest is."""
        ...


class PlainForest:
    """A forest made of nothing but `covers`: every root is asked, so it takes time that grows with their
    square.
    """

    def __init__(self, covers: Callable[[bytes, bytes], bool]) -> None:
        self._covers = covers
        self._bodies: dict[SubscriptionKey, bytes] = {}
        self._below: dict[SubscriptionKey | None, list[SubscriptionKey]] = {None: []}

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Put it below a root that covers it; else it takes the place of the roots that it covers."""
        self._covers(body, body)  # which refuses what is no body, before anything changes
        self._bodies[key], self._below[key] = body, []
        roots = self._below[None]
        above = next((root for root in roots if self._covers(self._bodies[root], body)), None)
        if above is None:
            self._below[key] = [root for root in roots if self._covers(body, self._bodies[root])]
            self._below[None] = [root for root in roots if root not in self._below[key]]
        self._below[above].append(key)

    def roots(self) -> list[SubscriptionKey]:
        """Return those that nobody covers, ordered by key."""
        return sorted(self._below[None])

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Return those directly below it, ordered by key."""
        return sorted(self._below[key])

    def statistics(self) -> ForestStatistics:
        """Return how many roots there are, how deep the trees go and how large the largest is."""
        deepest = largest = 0
        for root in self._below[None]:
            level, size, depth = [root], 0, 0
            while level:
                size, depth = size + len(level), depth + 1
                level = [below for key in level for below in self._below[key]]
            deepest, largest = max(deepest, depth), max(largest, size)
        return ForestStatistics(len(self._bodies), len(self._below[None]), deepest, largest)
