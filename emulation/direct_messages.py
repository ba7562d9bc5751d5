"""Plain messages from one node to another, carried by the overlay in the direct language.

Whoever may get messages asks for "everything for me", and whoever sends one publishes it with its
destination in front. On the air every subscription begins with its number, revision and lifetime (SUB/DENS
reads them), while the direct language knows the two bytes of an address only: `DirectOnTheAir` puts the two
together.
"""

from typing import Final

from dens.item import lifetime_code
from knowledge_manager.mission_table import MissionTable
from plugins.direct.language import DirectLanguage, DirectLookUp, DirectMatcher, subscription_to
from plugins.language import LookUp, Matcher, Requirement, SubscriptionKey
from watchdog.vector import VectorError

HEADER_BYTES: Final = 3
"""Number, revision and lifetime code."""
SUBSCRIPTION_ID: Final = 255
"""The number under which a node asks for its messages; scenarios use the others."""


def subscription_lifetime(duration_ms: int) -> int:
    """Return the lifetime code of a subscription that outlasts the run."""
    return lifetime_code(duration_ms + 1)


def subscription_of(node: int, lifetime_q: int) -> bytes:
    """Return the subscription to everything for this node, as it goes on the air."""
    return bytes((SUBSCRIPTION_ID, 0, lifetime_q)) + subscription_to(node)


def _address(vector: bytes) -> bytes:
    if len(vector) < HEADER_BYTES:
        raise VectorError(len(vector), "a subscription begins with number, revision and lifetime")
    return vector[HEADER_BYTES:]


class _LookUp(DirectLookUp):
    """The direct language's look-up, for subscriptions with their header."""

    def alternatives(self, vector: bytes) -> tuple[Requirement, ...]:
        """Return no alternative; a bad vector raises `VectorError`."""
        return super().alternatives(_address(vector))


class _Matcher(DirectMatcher):
    """The direct language's matcher, for subscriptions with their header."""

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Hold this subscription; a bad vector raises `VectorError` and changes nothing."""
        super().add(key, _address(vector))


class DirectOnTheAir(DirectLanguage):
    """The direct language as the overlay carries it."""

    def lookup(self, table: MissionTable) -> LookUp:
        """Make a look-up."""
        return _LookUp()

    def matcher(self, table: MissionTable) -> Matcher:
        """Make a matcher by destination."""
        return _Matcher()
