"""Epidemic replication: every mediator receives everything it lacks (Vahdat and Becker, 2000).

The fastest policy and the most expensive on the air; the others are measured against it.
"""

from collections.abc import Collection
from typing import ClassVar

from dens.overlay.policies.kind import PolicyKind
from dens.overlay.wire.item import Item


class Epidemic:
    """Copies to every mediator; copies are not counted.

    >>> Epidemic().share(Item(35, 1, 7, 1, 0, 0, 0, b""), (), 3, 0)
    0
    """

    asks_who_is_owed: ClassVar[bool] = False
    shares_everything: ClassVar[bool] = True
    counts_copies: ClassVar[bool] = False

    def note(self, now_ms: int) -> bytes:
        """Return nothing: every peer is treated alike."""
        return b""

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn nothing: every peer is treated alike."""

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Return 0: a copy for every peer."""
        return 0

    def kept(self, item: Item, given: int) -> int:
        """Return 0: copies are not counted."""
        return 0

    def state(self) -> bytes:
        """Return nothing: nothing is learnt."""
        return b""

    def restore(self, state: bytes) -> None:
        """Load nothing."""


EPIDEMIC = PolicyKind("epidemic", "every mediator receives everything", lambda node: Epidemic())
