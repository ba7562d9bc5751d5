"""Direct delivery: the mediator that received a notification from its publisher carries it to the subscriber.

A contact with the mediator that hosts the subscriber counts as one with the subscriber; the engine handles
that (dens/overlay/mediator/node.py).

One transmission per notification and carrier, no relaying: the cheapest policy, and the lower bound for what
the others must deliver (Spyropoulos, Psounis and Raghavendra, 2004, compare with it).
"""

from collections.abc import Collection
from typing import ClassVar

from dens.overlay.policies.kind import PolicyKind
from dens.overlay.wire.item import Item


class Direct:
    """Never copies to another mediator.

    >>> Direct().share(Item(35, 1, 7, 1, 0, 0, 0, b""), (5,), 3, 0) is None
    True
    """

    asks_who_is_owed: ClassVar[bool] = False
    shares_everything: ClassVar[bool] = False
    counts_copies: ClassVar[bool] = False

    def note(self, now_ms: int) -> bytes:
        """Return nothing: peers receive no copies."""
        return b""

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn nothing: peers receive no copies."""

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        return None

    def kept(self, item: Item, given: int) -> int:
        """Return the code unchanged."""
        return item.copies

    def state(self) -> bytes:
        """Return nothing: nothing is learnt."""
        return b""

    def restore(self, state: bytes) -> None:
        """Load nothing."""


DIRECT = PolicyKind("direct", "no copies between mediators", lambda node: Direct())
