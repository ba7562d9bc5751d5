"""Direct delivery: whoever got a notification from its publisher keeps it until it meets the subscriber.

Meeting the mediator that hosts the subscriber is meeting it, and the engine sees to that
(dens/overlay/mediator/node.py).

One transmission a notification and carrier, no help from others: the cheapest policy, and the lower bound of
what the others must deliver (Spyropoulos, Psounis and Raghavendra, 2004, compare with it).
"""

from collections.abc import Collection
from typing import ClassVar

from dens.overlay.policies.kind import PolicyKind
from dens.overlay.wire.item import Item


class Direct:
    """Gives no mediator a copy.

    >>> Direct().share(Item(35, 1, 7, 1, 0, 0, 0, b""), (5,), 3, 0) is None
    True
    """

    asks_who_is_owed: ClassVar[bool] = False
    shares_everything: ClassVar[bool] = False
    counts_copies: ClassVar[bool] = False

    def note(self, now_ms: int) -> bytes:
        """Say nothing: peers get nothing anyway."""
        return b""

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn nothing: peers get nothing anyway."""

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Give no copy."""
        return None

    def kept(self, item: Item, given: int) -> int:
        """Keep what there is."""
        return item.copies

    def state(self) -> bytes:
        """Keep nothing: nothing is learnt."""
        return b""

    def restore(self, state: bytes) -> None:
        """Take up nothing."""


DIRECT = PolicyKind("direct", "no copies between mediators", lambda node: Direct())
