"""The interface of a replication policy: six verbs.

Subscriptions, tombstones, receipts and announcements always go to every mediator. A policy decides about
notifications only: whether a peer mediator gets a copy, and with how large a share of the copies that may
still be made.
"""

from collections.abc import Collection
from typing import ClassVar, Protocol

from dens.overlay.wire.item import Item


class ReplicationPolicy(Protocol):
    """Decides which mediator gets a copy of which notification."""

    asks_who_is_owed: ClassVar[bool]
    """Whether `share` looks at who is owed a notification, so that mediators far from the receiver of a plain
    message must know what it asked for."""

    shares_everything: ClassVar[bool]
    """Whether every mediator gets a copy of everything, uncounted: then `share` and `kept` are not asked, and
    nobody need know whose ends others host."""

    counts_copies: ClassVar[bool]
    """Whether copies codes bound how many mediators carry a notification: then a publisher gives it to one
    mediator, with the whole budget, and to no other."""

    def note(self, now_ms: int) -> bytes:
        """Return what this node's policy tells its peers' policies; it rides in the summary."""
        ...

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn that a contact with this peer is established, and what its policy says (a wrong note is
        ignored). The ends that a mediator hosts are met with it."""
        ...

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Return the copies code the peer's copy gets (0 where copies are not counted), or None for no
        copy. What the peer's own ends are owed they are given in any case, by the engine."""
        ...

    def kept(self, item: Item, given: int) -> int:
        """Return the copies code that stays here when a copy with the code `given`, above 0, is sent. If it
        turns out that the peer did not take it, the engine gives it to another peer to whom `share` would
        give the same."""
        ...

    def state(self) -> bytes:
        """Return what was learnt, for the store: it is kept after every `met`."""
        ...

    def restore(self, state: bytes) -> None:
        """Take up what an earlier life of this node learnt; bytes of another policy are ignored."""
        ...
