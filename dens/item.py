"""A message as one node keeps it: what travels, in local time."""

from typing import Any, Final, NamedTuple

from dens.numbers import TYPE_NAMES
from watchdog.lifetime import lifetime_code, lifetime_s

ItemId = tuple[int, int]
"""(origin, number): who made the message, and its number there."""

ENVELOPE_BYTES: Final = 16
NEVER_MS: Final = 1 << 62
"""Later than any time."""
OLDEST_AGE_MS: Final = 0xFFFF_FFFF
"""The envelope's age has four bytes; what is older than they can say is over."""

LIFETIME_MS: Final = tuple(lifetime_s(q) * 1000 for q in range(256))
"""The lifetime that each code stands for; every message that comes is looked up here."""


def lifetime_code_ms(lifetime_ms: int) -> int:
    """Return the least code whose lifetime is at least this long (255 where none is)."""
    return lifetime_code(-(-lifetime_ms // 1000))


new_tuple: Final = tuple.__new__
"""Makes named tuples of all their fields in a third of the time; for those that every message needs."""


class _Facts(NamedTuple):
    type: int
    language: int
    origin: int
    number: int
    created_ms: int
    lifetime_q: int
    hops: int
    payload: bytes
    copies: int
    signature: bytes
    id: ItemId
    expires_ms: int
    size: int


_SAID: Final = 10
"""So many of the fields are said; the others follow."""


class Item(_Facts):
    """One message in the local time of the node that holds it. It never changes.

    `created_ms` is when its origin made it, on the local clock: the time of receipt less the age it had
    then, so it may be negative. `copies` is the replication budget of binary spraying as a code, 0 where
    none is counted. `signature` is its subscriber's, where subscribers sign (dens/identity.py).

    What follows from these is found once: `id` is (origin, number), `expires_ms` the first local millisecond
    at which its lifetime is over, `size` its length on the air without a tag. It is a tuple because an
    engine makes one for every datagram.

    >>> Item(35, 1, 7, 1, 1_000, 8, 0, b"abc")[10:]
    ((7, 1), 3000, 19)
    """

    __slots__ = ()

    def __new__(
        cls,
        type: int,
        language: int,
        origin: int,
        number: int,
        created_ms: int,
        lifetime_q: int,
        hops: int,
        payload: bytes,
        copies: int = 0,
        signature: bytes = b"",
    ) -> "Item":
        return new_tuple(
            cls,
            (
                type,
                language,
                origin,
                number,
                created_ms,
                lifetime_q,
                hops,
                payload,
                copies,
                signature,
                (origin, number),
                created_ms + LIFETIME_MS[lifetime_q],
                ENVELOPE_BYTES + len(payload) + len(signature),
            ),
        )

    def but(self, **changes: Any) -> "Item":
        """Return the same message with these fields changed; what follows from them follows again.

        >>> Item(35, 1, 7, 1, 1_000, 8, 0, b"abc").but(number=2, payload=b"").id
        (7, 2)
        """
        said: dict[str, Any] = dict(zip(self._fields[:_SAID], self[:_SAID], strict=True))
        return Item(**said | changes)

    @property
    def type_name(self) -> str:
        """Return the word for its type in traces."""
        return TYPE_NAMES[self.type]

    def age_ms(self, now_ms: int) -> int:
        """Return how old it is now."""
        age_ms = now_ms - self.created_ms
        if age_ms < 0:
            return 0
        return age_ms if age_ms < OLDEST_AGE_MS else OLDEST_AGE_MS
