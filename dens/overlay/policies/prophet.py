"""PRoPHET: a copy goes to a mediator that is likelier than this one to meet somebody who is owed it.

The forwarding rule is GRTR of RFC 6693 §3.6 for each subscriber that is owed the notification;
predictabilities are those of `encounters.py`. A notification that nobody known is owed has no destination
yet and stays where it is.
"""

from collections.abc import Collection
from typing import ClassVar

from dens.overlay.policies.encounters import PARAMETERS, Encounters
from dens.overlay.policies.kind import PolicyKind
from dens.overlay.wire.item import Item


class Prophet:
    """Compares predictabilities.

    >>> policy = PROPHET(1)
    >>> policy.met(3, True, bytes((0, 0, 0, 9, 128, 0)), 0)  # node 3 meets node 9: one half
    >>> owed = Item(35, 1, 7, 1, 0, 0, 0, b"")
    >>> policy.share(owed, (9,), 3, 0), policy.share(owed, (8,), 3, 0)
    (0, None)
    """

    asks_who_is_owed: ClassVar[bool] = True
    shares_everything: ClassVar[bool] = False
    counts_copies: ClassVar[bool] = False

    def __init__(self, node: int, encounters: Encounters) -> None:
        self._node = node
        self._encounters = encounters

    def note(self, now_ms: int) -> bytes:
        """Tell how likely this node is to meet others."""
        return self._encounters.tell(now_ms)

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn from the meeting and from what the peer tells."""
        self._encounters.met(peer, now_ms)
        if is_mediator:
            self._encounters.heard(peer, note, self._node, now_ms, hosts)

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Give a copy, uncounted, to whoever is likelier to meet one of those who are owed it."""
        known = self._encounters
        for subscriber in owed_to:
            if known.likelihood_of_peer(peer, subscriber) > known.likelihood(subscriber, now_ms):
                return 0
        return None

    def kept(self, item: Item, given: int) -> int:
        """Keep the copy, uncounted."""
        return 0

    def state(self) -> bytes:
        """Keep the predictabilities."""
        return self._encounters.state()

    def restore(self, state: bytes) -> None:
        """Take up the predictabilities."""
        self._encounters.restore(state)


PROPHET = PolicyKind(
    "prophet",
    "to a mediator likelier to meet a subscriber that is owed it",
    lambda node, **learning: Prophet(node, Encounters(**learning)),
    PARAMETERS,
)
