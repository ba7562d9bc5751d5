"""Plain unicast messages, carried by the overlay in the direct language.

Each possible destination subscribes to everything addressed to it; a sender publishes a message with its
destination in front.
"""

from typing import Final

from dens.overlay.wire.item import lifetime_code_ms
from plugins.direct.language import DIRECT, notification_for, subscription_to

__all__ = ["LANGUAGE", "SUBSCRIPTION_ID", "notification_for", "subscription_lifetime", "subscription_of"]

LANGUAGE: Final = DIRECT.language_id
"""The direct language. It has no documents, so the registry cannot find it by one."""

SUBSCRIPTION_ID: Final = 255
"""The id of a node's subscription to its messages; scenarios use the other ids."""


def subscription_lifetime(duration_ms: int) -> int:
    """Return the lifetime code of a subscription that outlasts the run."""
    return lifetime_code_ms(duration_ms + 1)


def subscription_of(node: int, lifetime_q: int) -> bytes:
    """Return the subscription of a node to everything for it."""
    return subscription_to(node, SUBSCRIPTION_ID, 0, lifetime_q)
