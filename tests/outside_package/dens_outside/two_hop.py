"""Two-hop relay: the mediator that has a notification first gives it to relays, and each of them waits for a
subscriber (after Grossglauser and Tse, 2002).

A copies code c > 1 says that c - 1 relays may still be given one; 1 says that this is a relay's copy.
"""

from collections.abc import Collection

from dens.overlay.policies.kind import Parameter, PolicyKind
from dens.overlay.wire.item import Item

RELAYED = 1


class TwoHop:
    """Gives copies at the first hop only."""

    asks_who_is_owed = False
    shares_everything = False
    counts_copies = True

    def __init__(self, relays: int) -> None:
        self._fresh = relays + 1

    def note(self, now_ms: int) -> bytes:
        """Send no note to peers."""
        return b""

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Ignore meetings."""

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Give a relay's copy while there are relays left."""
        return RELAYED if (item.copies or self._fresh) > RELAYED else None

    def kept(self, item: Item, given: int) -> int:
        """Subtract the copy that was given."""
        return (item.copies or self._fresh) - 1

    def state(self) -> bytes:
        """Keep nothing in the store."""
        return b""

    def restore(self, state: bytes) -> None:
        """Restore nothing."""


RELAYS = Parameter("relays", 4, 1, 6, "mediators that the first one gives a copy to")
TWO_HOP = PolicyKind("two_hop", "copies at the first hop", lambda node, relays: TwoHop(relays), (RELAYS,))
