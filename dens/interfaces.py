"""Structural protocols between the overlay and other packages, so that neither side imports the other.

Objects of `plugins/` satisfy `Matcher`, `Composer`, `CoverIndex` and `RoutingRelations`, an object of
`knowledge_manager/` satisfies `Directory`, a watchdog satisfies `FilterHost`. A malformed body, vector or
extract raises `watchdog.vector.VectorError`; the overlay then refuses the message. Any other exception is a
defect of the plug-in: the message is quarantined and the defect is reported
(dens/overlay/session/quarantine.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

SubscriptionKey = tuple[int, int]
"""(origin, id): the subscriber's node number and its number for the subscription."""


class FoundMatch(Protocol):
    """One subscription that a notification satisfies, and the degree."""

    @property
    def key(self) -> SubscriptionKey:
        """Return the key of the subscription."""
        ...

    @property
    def degree_u8(self) -> int:
        """Return the degree, 255 = full."""
        ...

    @property
    def detail(self) -> bytes:
        """Return details of its language, at most 255 bytes; opaque to the overlay."""
        ...

    @property
    def revision(self) -> int | None:
        """Return the only revision that it is valid for, if the notification names one."""
        ...


class Matcher(Protocol):
    """Finds the subscriptions of one language that a notification satisfies."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Remove it; an unknown key is ignored."""
        ...

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> Sequence[FoundMatch]:
        """Return the subscriptions that this notification satisfies, ordered by key."""
        ...

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, Sequence[FoundMatch]]]:
        """Yield (position, matches) for (vector, event_ms) pairs in the order in which they complete."""
        ...


MatcherFactory = Callable[[], Matcher]
"""Makes an empty matcher. A DENS node makes two for each language: one for all subscriptions, and one through
which a newly learnt subscription alone is matched against the notifications already stored."""


class CompositeNotification(NamedTuple):
    """A notification that a composer derives from others."""

    vector: bytes
    """In the composer's language."""
    event_ms: int
    """Event time of the latest part."""
    lifetime_q: int
    """Encoded lifetime."""


class Composer(Protocol):
    """Derives notifications of one language from those that a mediator holds.

    Its state is a function of the set of notifications and subscriptions that were added and not removed;
    their order and repetitions make no difference.
    """

    @property
    def listens_to(self) -> frozenset[int]:
        """Return the languages of the notifications that it needs."""
        ...

    def add(self, key: SubscriptionKey, body: bytes, revision: int, since_ms: int, until_ms: int) -> None:
        """Add this subscription for events of that time. A known key is replaced; a renewal keeps state."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Remove it; an unknown key is ignored."""
        ...

    def feed(
        self,
        item_id: int,
        language_id: int,
        vector: bytes,
        event_ms: int,
        now_ms: int,
        only: SubscriptionKey | None = None,
    ) -> Sequence[CompositeNotification]:
        """Take a notification; return the composites that it completes, of subscription `only` if given."""
        ...

    def forget(self, item_id: int) -> None:
        """Forget a notification; an unknown one is ignored."""
        ...

    def wanted_by(self, item_id: int) -> Mapping[int, int]:
        """Return the subscribers for whom a notification may become a part, and the degree."""
        ...

    def parts_of(self, made_vector: bytes) -> tuple[int, ...] | None:
        """Return the notifications that a composite was derived from, if all of them are still known."""
        ...


ComposerFactory = Callable[[], Composer]
"""Makes an empty composer."""


@dataclass(frozen=True, slots=True)
class Result:
    """The content of a notification, independent of its message. Several mediators may report the same one.

    Of results with one identity, a higher rank supersedes a lower one.
    """

    identity: bytes
    rank: int
    span_ms: int = 0
    """How much later another report of the same result may have its event time."""


ResultReader = Callable[[bytes], Sequence[Result]]
"""From a notification's vector to its results; invalid bytes raise `VectorError`."""


class CoverIndex(Protocol):
    """Covering between bodies of one language at a source. A body *covers* another if a source that filters
    for it releases everything that it would release for the other, with every value that the other needs.

    Missing a cover is allowed, a wrong one is not. The cost of an insertion must be bounded, at most in
    proportion to the number of bodies.
    """

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Add a body under a new key."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Remove it; bodies that only it covered get another cover, or none."""
        ...

    def cover_of(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return a key that covers it, or None. Covers never form a cycle."""
        ...


CoverIndexFactory = Callable[[], CoverIndex]
"""Makes an empty index."""


class Part(Protocol):
    """A subscription of another language that covers a part of the original."""

    @property
    def language_id(self) -> int: ...

    @property
    def body(self) -> bytes: ...


Decompose = Callable[[bytes], Sequence[Part]]
"""From the body of a subscription to its parts; an invalid body raises `VectorError`."""


class EntryChanges(Protocol):
    """Changes of an entry table, to be forwarded to a neighbour."""

    @property
    def announced(self) -> Sequence[bytes]:
        """Return the bodies to announce."""
        ...

    @property
    def withdrawn(self) -> Sequence[bytes]:
        """Return the bodies to withdraw, after those were announced."""
        ...


class EntryTable(Protocol):
    """Bodies of one language, and the few that cover all of them, which a broker forwards to a neighbour. A
    body *covers* another if everything that satisfies the other satisfies it. Options may allow mergers that
    lose some notifications.
    """

    def insert(self, key: SubscriptionKey, body: bytes) -> EntryChanges:
        """Add a body; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> EntryChanges:
        """Remove it; an unknown key changes nothing."""
        ...

    def bodies(self) -> Sequence[bytes]:
        """Return the forwarded bodies, each once."""
        ...

    @property
    def covered(self) -> int:
        """Return how many bodies are covered by a forwarded one."""
        ...

    @property
    def mergers(self) -> int:
        """Return how many forwarded bodies are mergers of several."""
        ...


class RoutingRelations(Protocol):
    """Relations between bodies that brokers need. `includes` returns True, and `advertises` False, only if
    that is certain.
    """

    def includes(self, one: bytes, other: bytes) -> bool:
        """Return whether all that the advertisement `other` announces is announced by `one` too."""
        ...

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        """Return whether something that an advertisement announces may satisfy a subscription."""
        ...

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        """Return whether an advertisement announces this notification."""
        ...

    def table(self) -> EntryTable:
        """Return an empty table."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundLanguage:
    """A subscription language bound to a mission table: all that engines need from it.

    `plugins.language.SubscriptionLanguage.bind` makes it (docs/decisions/0045-bound-languages.md). Optional
    members are None if the language does not have them.
    """

    matchers: Mapping[int, MatcherFactory]
    """By the language of the notifications that they match. All of them take the same bodies."""
    decompose: Decompose | None = None
    """Decomposes subscriptions for sources that do not implement the language."""
    composer: ComposerFactory | None = None
    """Derives notifications of this language from others."""
    results: ResultReader | None = None
    """Reads the content of notifications, if several notifications can have the same content."""
    covers: CoverIndexFactory | None = None
    """Index of covering at a source, so that mediators can suppress installs."""
    relations: RoutingRelations | None = None
    """Relations for brokers. None: only equal bodies cover each other."""


class Directory(Protocol):
    """Offers of publishers."""

    def learn(
        self,
        node: int,
        extract: bytes,
        now_ms: int,
        *,
        age_ms: int = 0,
        via: int | None = None,
        hops: int = 1,
    ) -> object:
        """Add the extract of what a publisher measures; the newest extract of a node replaces older ones.

        It is `age_ms` old and was relayed by `via` (this node itself, if its own store kept it) over `hops`
        hops. The overlay ignores the result.
        """
        ...

    def publishers_for(self, language: int, body: bytes) -> Iterable[int]:
        """Return the publishers that can serve this subscription."""
        ...

    def offering(self, question: bytes) -> Iterable[int]:
        """Return the publishers whose extracts match a question; an empty question matches all. Questions are
        opaque to the overlay; an invalid one raises `VectorError`.
        """
        ...

    def needs_publisher(self, language: int, body: bytes) -> bool:
        """Return whether this subscription needs a publisher with a matching offer. Plain messages, for
        example, do not.
        """
        ...

    def question_for(self, subscriptions: Iterable[tuple[int, bytes]]) -> bytes:
        """Return a question that matches every publisher that can serve one of these subscriptions (language
        and body), and few others. Each of them needs a publisher.
        """
        ...


class Signer(Protocol):
    """Signs the statements of one subscriber. `dens/node/keys.py` has one with Ed25519."""

    def sign(self, statement: bytes) -> bytes:
        """Return a signature of 64 bytes."""
        ...


class Identities(Protocol):
    """Public keys of subscribers."""

    def is_signer(self, origin: int) -> bool:
        """Return whether messages of this subscriber need its signature."""
        ...

    def verifies(self, origin: int, statement: bytes, signature: bytes) -> bool:
        """Return whether this subscriber signed this statement."""
        ...


class FilterHost(Protocol):
    """Filters readings at a source: a watchdog.

    The names follow `watchdog.watchdog`; its codes are small integers.
    """

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        """Filter for this subscription for `remaining_ms` from now on, then forget it.

        Returns a code: 0 installed, 1 known (its lifetime is renewed), 2 replaced an older revision; refused:
        3 stale, 4 full, 5 unknown language, 6 bad vector, 7 lifetime over, 8 withdrawn; and of its sources:
        11 not measured, 12 no class for its protocol and content type, 13 could not be started.
        """
        ...

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> object:
        """Stop filtering for it; an unknown subscription is ignored."""
        ...
