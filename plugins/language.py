"""What a subscription language is, to the rest of the system.

How an event is *described* is independent of how it *travels*. A language is therefore three small factories,
each answering one question at one place: which publishers can serve this subscription (look-up, on a DENS
node), which readings are worth sending (filter, at the source), and which subscriptions a notification
satisfies (match, on a DENS node). The overlay only ever sees bytes and a language id.

One law holds for every language and is tested for all of them: whatever would match, the filter lets pass.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from knowledge_manager.mission_table import MissionTable
from watchdog.filter import Release
from watchdog.reading import Reading

__all__ = [
    "LookUp",
    "Match",
    "Matcher",
    "Release",
    "Requirement",
    "SourceFilter",
    "SubscriptionKey",
    "SubscriptionLanguage",
]

SubscriptionKey = tuple[int, int]
"""(origin, id): the subscriber's node number and its number for the subscription."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A publisher that measures all these attributes of this event class can serve the subscription."""

    event: int
    attributes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Match:
    """One subscription that a notification satisfies, and how well.

    Languages that know more than a degree say so in the other fields; `identity` names a result that a later
    one confirms or, with `withdrawn`, takes back.
    """

    key: SubscriptionKey
    degree_u8: int
    necessity_u8: int | None = None
    probability: float | None = None
    bindings: Mapping[str, str] | None = None
    identity: bytes | None = None
    withdrawn: bool = False


class LookUp(Protocol):
    """Says what a publisher must measure to serve a subscription."""

    def alternatives(self, vector: bytes) -> tuple[Requirement, ...]:
        """Return the alternatives; a publisher that offers all of any one of them can serve it."""
        ...


class SourceFilter(Protocol):
    """Decides at the source which readings become notifications. It may keep state over readings."""

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Start to look for this subscription; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Stop looking for it; an unknown key is no error."""
        ...

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications that this reading is worth, most attributes first."""
        ...


class Matcher(Protocol):
    """Finds the subscriptions that a notification satisfies. It may keep state over notifications."""

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Hold this subscription; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; an unknown key is no error."""
        ...

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return what this notification satisfies, ordered by key. Its age is `now_ms - event_ms`."""
        ...

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield (position, matches) for (vector, event_ms) pairs in the order in which they complete."""
        ...

    def next_timer_ms(self) -> int | None:
        """Return when it wants to be asked again without a notification, or None."""
        ...


class SubscriptionLanguage(Protocol):
    """A language: a number that every message carries, a name, and three factories."""

    @property
    def language_id(self) -> int:
        """Return the number by which messages name this language."""
        ...

    @property
    def name(self) -> str:
        """Return the name by which people call it."""
        ...

    def lookup(self, table: MissionTable) -> LookUp:
        """Make a look-up over this mission table."""
        ...

    def source_filter(self, table: MissionTable) -> SourceFilter:
        """Make a filter for one source."""
        ...

    def matcher(self, table: MissionTable) -> Matcher:
        """Make a matcher for one DENS node."""
        ...
