"""Adapters from bodies to code that reads whole vectors, as boards do."""

from typing import TYPE_CHECKING

from plugins.language import Matcher, SubscriptionKey, grades_of
from plugins.matching_work import work_of
from watchdog.header import NO_HEADER, body_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugins.fuzzy.relations.covering import CoveringForest
    from plugins.fuzzy.relations.relations import FuzzyRelations


class BodyMatcher:
    """A matcher of whole vectors that takes bodies. Queries pass directly."""

    __slots__ = ("_add", "grades", "match", "match_batch", "remove", "work")

    def __init__(self, of_vectors: Matcher) -> None:
        self._add = of_vectors.add
        self.remove = of_vectors.remove
        self.match = of_vectors.match
        self.grades = grades_of(of_vectors)
        self.match_batch = of_vectors.match_batch
        self.work = work_of(of_vectors)

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        self._add(key, NO_HEADER + body)


class BodyForest:
    """A forest of whole vectors that takes bodies."""

    def __init__(self, of_vectors: "CoveringForest") -> None:
        self._insert = of_vectors.insert
        self.roots = of_vectors.roots
        self.children = of_vectors.children
        self.statistics = of_vectors.statistics

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        self._insert(key, NO_HEADER + body)


class BodyCovers:
    """Covering at a source: a covering forest among subscriptions with the same attributes, because a
    notification has the values of one feature only. The age is not a value of a notification, so it may
    differ as at a mediator.
    """

    def __init__(self, of_vectors: "CoveringForest") -> None:
        self._insert = of_vectors.insert
        self.remove = of_vectors.remove
        self.cover_of = of_vectors.parent

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        self._insert(key, NO_HEADER + body)


class BodyRelations:
    """Relations of whole vectors that take bodies."""

    def __init__(self, of_vectors: "FuzzyRelations", new_forest: "Callable[[], CoveringForest]") -> None:
        self._relations = of_vectors
        self._new_forest = new_forest

    def forest(self) -> "BodyForest":
        return BodyForest(self._new_forest())

    def covers(self, one: bytes, other: bytes) -> bool:
        return self._relations.covers(NO_HEADER + one, NO_HEADER + other)

    def intersects(self, one: bytes, other: bytes) -> bool:
        return self._relations.intersects(NO_HEADER + one, NO_HEADER + other)

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body that covers both, or None if there is none of this form."""
        merged = self._relations.merge(NO_HEADER + one, NO_HEADER + other)
        return None if merged is None else body_of(merged)
