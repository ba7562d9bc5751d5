"""What the overlay needs from other rooms, as structural protocols, so that neither side imports the other.

Objects of `plugins/` satisfy `Matcher`, `Composer`, `CoverIndex` and `RoutingRelations`, one of
`knowledge_manager/` satisfies `Directory`, a watchdog satisfies `FilterHost`. A body, vector or extract that
is not well-formed is refused by raising `watchdog.vector.VectorError`; the overlay then refuses the message.
Any other exception is a defect of the plug-in: the message is quarantined and the defect told
(dens/overlay/session/quarantine.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

SubscriptionKey = tuple[int, int]
"""(origin, id): the subscriber's node number and its number for the subscription."""


class FoundMatch(Protocol):
    """One subscription that a notification satisfies, and how well."""

    @property
    def key(self) -> SubscriptionKey:
        """Return whose subscription it is."""
        ...

    @property
    def degree_u8(self) -> int:
        """Return how well, 255 = fully."""
        ...

    @property
    def detail(self) -> bytes:
        """Return what else its language knows of it, opaque to the overlay: at most 255 bytes."""
        ...

    @property
    def revision(self) -> int | None:
        """Return the only revision of the subscription that it is for, where the notification names one."""
        ...


class Matcher(Protocol):
    """Finds the subscriptions of one language that a notification satisfies."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold this subscription; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; an unknown key is no error."""
        ...

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> Sequence[FoundMatch]:
        """Return what this notification satisfies, ordered by key."""
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
    """Makes notifications of one language of those that a mediator holds.

    What it knows is a function of the set of notifications and subscriptions that it was given and has not
    been asked to forget: in which order they came, and how often, makes no difference.
    """

    @property
    def listens_to(self) -> frozenset[int]:
        """Return the languages of the notifications that it is to be fed."""
        ...

    def add(self, key: SubscriptionKey, body: bytes, revision: int, since_ms: int, until_ms: int) -> None:
        """Look for this subscription among events of that time; a known key is replaced, and a renewal keeps
        what is remembered.
        """
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Look for it no longer; an unknown key is no error."""
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
        """Take a notification; return what it makes, for this subscription only where one is named."""
        ...

    def forget(self, item_id: int) -> None:
        """Remember a notification no longer; an unknown one is no error."""
        ...

    def wanted_by(self, item_id: int) -> Mapping[int, int]:
        """Return for which subscribers a notification may become a part, and to which degree."""
        ...

    def parts_of(self, made_vector: bytes) -> tuple[int, ...] | None:
        """Return the notifications of which this one was made, where all of them are remembered."""
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
"""From a notification's vector to what it says; bytes that are none raise `VectorError`."""


class CoverIndex(Protocol):
    """Knows of bodies of one language which stand for which at a source: a source that filters for the one
    releases all that it would release for the other, with every value that the other needs.

    It may be too careful, never wrong. What an insertion costs has to have a bound, at most in proportion to
    what is held.
    """

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Find a body its place under a new name."""
        ...

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; what it alone stood for has another cover from then on, or none."""
        ...

    def cover_of(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return one that stands for it, or None where none does; nobody is above itself, by whatever way."""
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
    """What a change of a table of entries means to the neighbour whom they are told."""

    @property
    def announced(self) -> Sequence[bytes]:
        """Return the bodies that it has to be told."""
        ...

    @property
    def withdrawn(self) -> Sequence[bytes]:
        """Return the bodies to take back, when it has those."""
        ...


class EntryTable(Protocol):
    """Bodies of one language, and few among them, or made of them, that stand for all: what a broker tells a
    neighbour. *One stands for another* where whatever satisfies the other satisfies it; a table may be told
    to be less careful, and then it is told what may be missed.
    """

    def insert(self, key: SubscriptionKey, body: bytes) -> EntryChanges:
        """Hold a body; a known key is replaced."""
        ...

    def remove(self, key: SubscriptionKey) -> EntryChanges:
        """Forget it; an unknown key changes nothing."""
        ...

    def bodies(self) -> Sequence[bytes]:
        """Return what is told, each once."""
        ...

    @property
    def covered(self) -> int:
        """Return how many bodies something else stands for that is told as it is."""
        ...

    @property
    def mergers(self) -> int:
        """Return how many of those that are told were made of several."""
        ...


class RoutingRelations(Protocol):
    """What brokers ask of a language. An answer may be too careful, never wrong: `includes` says True, and
    `advertises` False, only where it is certain.
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
    """Knows which publishers offer what."""

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
        """Take what this publisher says it can measure; the newest extract of a node replaces older ones.

        It was said `age_ms` ago, handed on by `via` (this node itself where its own store kept it), over so
        many hops. What `learn` returns is the directory's own business; the overlay does not look at it.
        """
        ...

    def publishers_for(self, language: int, body: bytes) -> Iterable[int]:
        """Return the publishers known to be able to serve this subscription."""
        ...

    def offering(self, question: bytes) -> Iterable[int]:
        """Return the publishers whose extracts a question is about; that of no bytes is about all. What a
        question says is the directory's own; one that it cannot read raises `VectorError`.
        """
        ...

    def needs_publisher(self, language: int, body: bytes) -> bool:
        """Say whether somebody has to offer something for this subscription to be served. Plain messages, for
        example, come from whoever writes them.
        """
        ...

    def question_for(self, subscriptions: Iterable[tuple[int, bytes]]) -> bytes:
        """Return the question which is about every publisher that can serve one of these subscriptions
        (language and body), or nearly; each of them needs one.
        """
        ...


class Signer(Protocol):
    """Signs what one subscriber says. `dens/node/keys.py` has one with Ed25519."""

    def sign(self, statement: bytes) -> bytes:
        """Return 64 bytes that nobody else can make for this statement."""
        ...


class Identities(Protocol):
    """Knows by which key each subscriber is recognised."""

    def is_signer(self, origin: int) -> bool:
        """Return whether nothing is to be believed of this subscriber without its signature."""
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
        """Look for this subscription for `remaining_ms` from now on, then forget it without being told.

        Returns a code: 0 installed, 1 known (its lifetime is renewed), 2 replaced an older revision; refused:
        3 stale, 4 full, 5 unknown language, 6 bad vector, 7 lifetime over, 8 withdrawn; and of its sources:
        11 not measured, 12 no class for its protocol and content type, 13 could not be started.
        """
        ...

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> object:
        """Stop looking for it; an unknown subscription is no error."""
        ...
