"""The interface of a replication policy: six verbs.

Subscriptions, tombstones, receipts and announcements always go to every mediator. A policy decides about
notifications only: whether a peer mediator receives a copy, and with which share of the remaining copies.
"""

from collections.abc import Collection
from typing import ClassVar, Protocol

from dens.overlay.wire.item import Item


class ReplicationPolicy(Protocol):
    """Decides which mediator receives a copy of which notification."""

    asks_who_is_owed: ClassVar[bool]
    """Whether `share` depends on the subscribers for whom a notification is pending. Then mediators far from
    the receiver of a plain message must know its subscription.
    """

    shares_everything: ClassVar[bool]
    """Whether every mediator receives a copy of everything, uncounted. Then `share` and `kept` are not
    called, and mediators need not know which endpoints others host.
    """

    counts_copies: ClassVar[bool]
    """Whether copies codes bound how many mediators carry a notification. Then a publisher gives it to
    exactly one mediator, with the whole budget.
    """

    def note(self, now_ms: int) -> bytes:
        """Return this policy's note to its peers' policies; it is part of the summary."""
        ...

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn of an established contact with this peer, and of its note (an invalid one is ignored). The
        endpoints that a mediator hosts are met with it."""
        ...

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Return the copies code of the peer's copy (0 if copies are not counted), or None for no copy.

        `owed_to` are the subscribers for whom the notification is pending. The engine delivers to the
        endpoints that the peer hosts in any case.
        """
        ...

    def kept(self, item: Item, given: int) -> int:
        """Return the copies code that remains here when a copy with the code `given` > 0 is sent.

        If the peer turns out not to have stored it, the engine gives it to another peer for which `share`
        returns the same code.
        """
        ...

    def state(self) -> bytes:
        """Return what was learnt; the engine stores it after every `met`."""
        ...

    def restore(self, state: bytes) -> None:
        """Load the `state` of an earlier run of this node; bytes of another policy are ignored."""
        ...
