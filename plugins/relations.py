"""Relations between subscriptions of one language: covering, intersection, merging."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from plugins.language import SubscriptionKey


class Relations(Protocol):
    """Relations between bodies of one language. Answers may be conservative: `covers` returns True, and
    `intersects` False, only if it is certain.
    """

    def covers(self, one: bytes, other: bytes) -> bool:
        """Return whether `one` matches everything that `other` matches."""
        ...

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Return whether a notification may match both."""
        ...

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body that matches everything that either matches, or None if merging does not pay."""
        ...

    def forest(self) -> "Forest":
        """Return an empty covering forest; `PlainForest(self.covers)` if the language has nothing better."""
        ...


class PlainCovers:
    """A cover index based on a comparison only. It compares every body with every root."""

    def __init__(self, stands_for: Callable[[bytes, bytes], bool]) -> None:
        self._stands_for = stands_for
        self._bodies: dict[SubscriptionKey, bytes] = {}
        self._above: dict[SubscriptionKey, SubscriptionKey | None] = {}

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Add a body below a root that covers it; else move the roots that it covers below it."""
        self._stands_for(body, body)  # refuses an invalid body before anything changes
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
        """Remove a body; those below it move to another root or become roots."""
        if self._bodies.pop(key, None) is None:
            return
        del self._above[key]
        for below in [one for one, over in self._above.items() if over == key]:
            self._place(below)

    def cover_of(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return a key that covers it, or None for a root."""
        return self._above.get(key)


@dataclass(frozen=True, slots=True)
class ForestStatistics:
    """Shape of a covering forest. Only roots have to be matched or forwarded first."""

    subscriptions: int
    roots: int
    deepest: int
    largest_tree: int

    @property
    def spared(self) -> float:
        """Return the share of subscriptions that are covered."""
        return 1 - self.roots / self.subscriptions if self.subscriptions else 0.0


class Forest(Protocol):
    """Subscriptions arranged below others that cover them. No root covers another root."""

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Add a subscription. An invalid body raises `VectorError`."""
        ...

    def roots(self) -> list[SubscriptionKey]:
        """Return the uncovered keys, in order."""
        ...

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Return the keys directly below a key, in order."""
        ...

    def statistics(self) -> ForestStatistics: ...


class PlainForest:
    """A forest based on `covers` only: quadratic in the number of roots."""

    def __init__(self, covers: Callable[[bytes, bytes], bool]) -> None:
        self._covers = covers
        self._bodies: dict[SubscriptionKey, bytes] = {}
        self._below: dict[SubscriptionKey | None, list[SubscriptionKey]] = {None: []}

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Add a subscription below a root that covers it; else it replaces the roots that it covers."""
        self._covers(body, body)  # refuses an invalid body before anything changes
        self._bodies[key], self._below[key] = body, []
        roots = self._below[None]
        above = next((root for root in roots if self._covers(self._bodies[root], body)), None)
        if above is None:
            self._below[key] = [root for root in roots if self._covers(body, self._bodies[root])]
            self._below[None] = [root for root in roots if root not in self._below[key]]
        self._below[above].append(key)

    def roots(self) -> list[SubscriptionKey]:
        return sorted(self._below[None])

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        return sorted(self._below[key])

    def statistics(self) -> ForestStatistics:
        deepest = largest = 0
        for root in self._below[None]:
            level, size, depth = [root], 0, 0
            while level:
                size, depth = size + len(level), depth + 1
                level = [below for key in level for below in self._below[key]]
            deepest, largest = max(deepest, depth), max(largest, size)
        return ForestStatistics(len(self._bodies), len(self._below[None]), deepest, largest)
