"""What brokers ask of a language: which body stands for which between them, and what publishers may publish.

An *advertisement* is written as a subscription is, and announces whatever its publisher may publish. A
language may say more of that than its `Relations` do (`SubscriptionLanguage.routing`); one that has only
relations is asked these, and its matcher; one that has none is not asked at all, and brokers compare bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from dens.interfaces import EntryTable, Matcher, RoutingRelations, SubscriptionKey
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.language import SubscriptionLanguage

if TYPE_CHECKING:
    from plugins.relations import Relations

Thresholds = Literal["min", "average", "max"]
"""What becomes of the thresholds of two subscriptions that are merged. Only the lower ones lose nothing."""


@dataclass(frozen=True, slots=True)
class MergingOptions:
    """How alike two bodies are that are merged, each from 0 to 1, and what becomes of their thresholds."""

    overlap: float = 0.5
    possibility: float = 1.0
    necessity: float = 0.0
    thresholds: Thresholds = "min"


@dataclass(frozen=True, slots=True)
class RoutingOptions:
    """What brokers of a mission spare each other."""

    covering: bool = True
    """Whether a body stands for those that it covers, or only for equal ones."""
    merging: MergingOptions | None = None
    """Whether one is made of several that are alike."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a change of a table means to a neighbour. It is told what is new before it is told what is gone,
    so that nothing is missed between.
    """

    announced: tuple[bytes, ...] = ()
    withdrawn: tuple[bytes, ...] = ()

    @classmethod
    def between(cls, before: Sequence[bytes], after: Sequence[bytes]) -> "Changes":
        """Return what leads from some bodies to others."""
        old, new = set(before), set(after)
        return cls(
            tuple(body for body in after if body not in old),
            tuple(body for body in before if body not in new),
        )


class AdvertisingRelations(RoutingRelations, Protocol):
    """Routing relations of a language that can also write advertisements."""

    def advertisement(self, event: EventClass, attributes: Iterable[Attribute]) -> bytes | None:
        """Return the advertisement of every notification about some of these attributes, or None if a person
        has to write it. Used as a source filter, it releases all of them.
        """
        ...


class CoveringTable:
    """A table made of nothing but "does one cover the other"."""

    def __init__(self, covers: Callable[[bytes, bytes], bool]) -> None:
        self._covers = covers
        self._bodies: dict[SubscriptionKey, bytes] = {}
        self._below: dict[bytes, dict[SubscriptionKey, None]] = {}
        """What stands below each body that is told, its own keys included."""

    def insert(self, key: SubscriptionKey, body: bytes) -> Changes:
        """Hold a body; a known key is replaced."""
        self._covers(body, body)  # which refuses what is no body, before anything changes
        before = self.bodies()
        self._take_out(key)
        self._bring_in(key, body)
        return Changes.between(before, self.bodies())

    def remove(self, key: SubscriptionKey) -> Changes:
        """Forget it; those below it find another root or become roots."""
        before = self.bodies()
        self._take_out(key)
        return Changes.between(before, self.bodies())

    def _bring_in(self, key: SubscriptionKey, body: bytes) -> None:
        self._bodies[key] = body
        above = next((root for root in self._below if self._covers(root, body)), None)
        if above is not None:
            self._below[above][key] = None
            return
        below = {key: None}
        for root in [one for one in self._below if self._covers(body, one)]:
            below |= self._below.pop(root)
        self._below[body] = below

    def _take_out(self, key: SubscriptionKey) -> None:
        body = self._bodies.pop(key, None)
        if body is None:
            return
        [root] = [one for one, keys in self._below.items() if key in keys]
        del self._below[root][key]
        if body == root and all(self._bodies[one] != root for one in self._below[root]):
            orphans = self._below.pop(root)
            for one in sorted(orphans):
                self._bring_in(one, self._bodies[one])

    def bodies(self) -> list[bytes]:
        """Return those that nothing else covers."""
        return list(self._below)

    @property
    def covered(self) -> int:
        """Return how many stand below another, or equal it."""
        return len(self._bodies) - len(self._below)

    @property
    def mergers(self) -> int:
        """Return that nothing is merged."""
        return 0


def same(one: bytes, other: bytes) -> bool:
    """Say whether two bodies are equal: what is left of covering where it is not wanted."""
    return one == other


class RelatedRouting:
    """What a language with relations answers brokers: an advertisement announces what satisfies it."""

    def __init__(
        self, relations: "Relations", matcher: Callable[[], Matcher], options: RoutingOptions
    ) -> None:
        self._relations = relations
        self._matcher = matcher
        self._options = options

    def includes(self, one: bytes, other: bytes) -> bool:
        """Say whether one covers the other."""
        return self._relations.covers(one, other)

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        """Say whether both intersect."""
        return self._relations.intersects(advertisement, wanted)

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        """Say whether a notification satisfies the advertisement, whenever it was made."""
        matcher = self._matcher()
        matcher.add((0, 0), advertisement)
        return bool(matcher.match(vector, 0, 0))

    def table(self) -> EntryTable:
        """Return an empty table; nothing is merged."""
        return CoveringTable(self._relations.covers if self._options.covering else same)

    def advertisement(self, event: EventClass, attributes: Iterable[Attribute]) -> bytes | None:
        """Return that somebody has to write one."""
        return None


def routing_of(
    language: SubscriptionLanguage, table: MissionTable, options: RoutingOptions
) -> AdvertisingRelations | None:
    """Return what brokers ask of a language, or None where they compare bytes."""
    if language.routing is not None:
        return language.routing(table, options)
    if language.relations is None:
        return None
    return RelatedRouting(language.relations(table), lambda: language.matcher(table), options)
