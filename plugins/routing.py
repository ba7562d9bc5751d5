"""Relations for brokers: covering between subscriptions, and advertisements of publishers.

An *advertisement* has the form of a subscription and announces what its publisher may publish. A language can
implement this itself (`SubscriptionLanguage.routing`). Otherwise its `Relations` and its matcher are used;
without relations, brokers compare bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from dens.interfaces import EntryTable, Matcher, RoutingRelations, SubscriptionKey
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass

if TYPE_CHECKING:
    from plugins.language import SubscriptionLanguage
    from plugins.relations import Relations

Thresholds = Literal["min", "average", "max"]
"""Threshold of a merged subscription. Only the minimum loses nothing."""


@dataclass(frozen=True, slots=True)
class MergingOptions:
    """Minimum similarities, from 0 to 1, of bodies that are merged, and how their thresholds are merged."""

    overlap: float = 0.5
    possibility: float = 1.0
    necessity: float = 0.0
    thresholds: Thresholds = "min"


@dataclass(frozen=True, slots=True)
class RoutingOptions:
    """How the brokers of a mission reduce forwarded subscriptions."""

    covering: bool = True
    """Whether a body replaces those that it covers, or only equal ones."""
    merging: MergingOptions | None = None
    """Whether similar bodies are merged."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes to forward to a neighbour. New bodies are announced before old ones are withdrawn, so that
    nothing is missed in between.
    """

    announced: tuple[bytes, ...] = ()
    withdrawn: tuple[bytes, ...] = ()

    @classmethod
    def between(cls, before: Sequence[bytes], after: Sequence[bytes]) -> "Changes":
        """Return the difference between two sets of bodies."""
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
    """A routing table based on a covering test only."""

    def __init__(self, covers: Callable[[bytes, bytes], bool]) -> None:
        self._covers = covers
        self._bodies: dict[SubscriptionKey, bytes] = {}
        self._below: dict[bytes, dict[SubscriptionKey, None]] = {}
        """The keys below each root, its own included."""

    def insert(self, key: SubscriptionKey, body: bytes) -> Changes:
        self._covers(body, body)  # refuses an invalid body before anything changes
        before = self.bodies()
        self._take_out(key)
        self._bring_in(key, body)
        return Changes.between(before, self.bodies())

    def remove(self, key: SubscriptionKey) -> Changes:
        """Remove a body; those below it move to another root or become roots."""
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
        """Return the roots."""
        return list(self._below)

    @property
    def covered(self) -> int:
        """Return the number of bodies that another one covers or equals."""
        return len(self._bodies) - len(self._below)

    @property
    def mergers(self) -> int:
        return 0


def same(one: bytes, other: bytes) -> bool:
    """Return whether two bodies are equal, if covering is off."""
    return one == other


class RelatedRouting:
    """Routing by a language's relations and matcher: an advertisement announces what satisfies it."""

    def __init__(
        self, relations: "Relations", matcher: Callable[[], Matcher], options: RoutingOptions
    ) -> None:
        self._relations = relations
        self._matcher = matcher
        self._options = options

    def includes(self, one: bytes, other: bytes) -> bool:
        return self._relations.covers(one, other)

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        return self._relations.intersects(advertisement, wanted)

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        """Return whether a notification satisfies the advertisement, at any age."""
        matcher = self._matcher()
        matcher.add((0, 0), advertisement)
        return bool(matcher.match(vector, 0, 0))

    def table(self) -> EntryTable:
        return CoveringTable(self._relations.covers if self._options.covering else same)

    def advertisement(self, event: EventClass, attributes: Iterable[Attribute]) -> bytes | None:
        """Return None: advertisements are written by people."""
        return None


def routing_of(
    language: "SubscriptionLanguage", table: MissionTable, options: RoutingOptions
) -> AdvertisingRelations | None:
    """Return the routing relations of a language, or None if brokers compare bytes."""
    if language.routing is not None:
        return language.routing(table, options)
    if language.relations is None:
        return None
    return RelatedRouting(language.relations(table), lambda: language.matcher(table), options)
