"""A message as one node keeps it: what travels, in local time."""

from dataclasses import dataclass
from math import isqrt
from typing import Final

from dens.numbers import TYPE_NAMES

ItemId = tuple[int, int]
"""(origin, number): who made the message, and its number there."""

ENVELOPE_BYTES: Final = 16
OLDEST_AGE_MS: Final = 0xFFFF_FFFF
"""The envelope's age has four bytes; what is older than they can say is over."""

LIFETIME_MS: Final = tuple(min(isqrt(isqrt(isqrt(1 << q))) * 1000, OLDEST_AGE_MS) for q in range(256))
"""Lifetime for each code q: ⌊2^(q/8)⌋ seconds, exactly; the eighth root is three square roots."""


def lifetime_code(lifetime_ms: int) -> int:
    """Return the least code whose lifetime is at least this long (255 where none is)."""
    low, high = 0, 255
    while low < high:
        middle = (low + high) // 2
        if LIFETIME_MS[middle] >= lifetime_ms:
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True, slots=True)
class Item:
    """One message in the local time of the node that holds it.

    `created_ms` is when its origin made it, on the local clock: the time of receipt less the age it had
    then, so it may be negative. `copies` is the replication budget of binary spraying as a code, 0 where
    none is counted.
    """

    type: int
    language: int
    origin: int
    number: int
    created_ms: int
    lifetime_q: int
    hops: int
    payload: bytes
    copies: int = 0
    signature: bytes = b""
    """Its subscriber's signature, where subscribers sign (dens/identity.py)."""

    @property
    def id(self) -> ItemId:
        """Return (origin, number)."""
        return (self.origin, self.number)

    @property
    def expires_ms(self) -> int:
        """Return the first local millisecond at which its lifetime is over."""
        return self.created_ms + LIFETIME_MS[self.lifetime_q]

    @property
    def size(self) -> int:
        """Return its length on the air without a tag."""
        return ENVELOPE_BYTES + len(self.payload) + len(self.signature)

    @property
    def type_name(self) -> str:
        """Return the word for its type in traces."""
        return TYPE_NAMES[self.type]

    def age_ms(self, now_ms: int) -> int:
        """Return how old it is now."""
        return min(max(0, now_ms - self.created_ms), OLDEST_AGE_MS)
