"""Plain messages from one node to another, carried by the overlay in the direct language.

Whoever may get messages asks for "everything for me", and whoever sends one publishes it with its
destination in front.
"""

from typing import Final

from dens.overlay.wire.item import lifetime_code_ms
from plugins.direct.language import DIRECT, notification_for, subscription_to

__all__ = ["LANGUAGE", "SUBSCRIPTION_ID", "notification_for", "subscription_lifetime", "subscription_of"]

LANGUAGE: Final = DIRECT.language_id
"""What messages travel in; nobody writes it, so that no document could name it to the registry."""

SUBSCRIPTION_ID: Final = 255
"""The number under which a node asks for its messages; scenarios use the others."""


def subscription_lifetime(duration_ms: int) -> int:
    """Return the lifetime code of a subscription that outlasts the run."""
    return lifetime_code_ms(duration_ms + 1)


def subscription_of(node: int, lifetime_q: int) -> bytes:
    """Return the subscription of a node to everything for it."""
    return subscription_to(node, SUBSCRIPTION_ID, 0, lifetime_q)
