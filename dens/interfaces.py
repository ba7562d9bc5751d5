"""What the overlay needs from other rooms, as structural protocols, so that neither side imports the other.

Objects of `plugins/` satisfy `Matcher`, one of `knowledge_manager/` satisfies `Directory`, a watchdog
satisfies `FilterHost`. A body, vector or extract that is not well-formed is refused by raising
`watchdog.vector.VectorError`; the overlay then refuses the message. Any other exception is a defect of the
plug-in: the message is quarantined and the defect told (dens/quarantine.py).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

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


class Signer(Protocol):
    """Signs what one subscriber says. `dens/drivers/keys.py` has one with Ed25519."""

    def sign(self, statement: bytes) -> bytes:
        """Return 64 bytes that nobody else can make for this statement."""
        ...


class Identities(Protocol):
    """Knows by which key each subscriber is recognised."""

    def is_signer(self, origin: int) -> bool:
        """Say whether nothing is to be believed of this subscriber without its signature."""
        ...

    def verifies(self, origin: int, statement: bytes, signature: bytes) -> bool:
        """Say whether this subscriber signed this statement."""
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
