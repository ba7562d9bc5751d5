"""Epidemic replication: every mediator gets everything it lacks (Vahdat and Becker, 2000).

Fastest, and the most expensive on the air; the other policies are measured against it.
"""

from collections.abc import Collection
from typing import ClassVar

from dens.overlay.policies.kind import PolicyKind
from dens.overlay.wire.item import Item


class Epidemic:
    """Gives a copy to everybody.

    >>> Epidemic().share(Item(35, 1, 7, 1, 0, 0, 0, b""), (), 3, 0)
    0
    """

    asks_who_is_owed: ClassVar[bool] = False
    shares_everything: ClassVar[bool] = True
    counts_copies: ClassVar[bool] = False

    def note(self, now_ms: int) -> bytes:
        """Say nothing: every peer is treated alike."""
        return b""

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn nothing: every peer is treated alike."""

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Give a copy, uncounted."""
        return 0

    def kept(self, item: Item, given: int) -> int:
        """Keep the copy, uncounted."""
        return 0

    def state(self) -> bytes:
        """Keep nothing: nothing is learnt."""
        return b""

    def restore(self, state: bytes) -> None:
        """Take up nothing."""


EPIDEMIC = PolicyKind("epidemic", "everybody gets everything", lambda node: Epidemic())
