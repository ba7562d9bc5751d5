"""This project's own policy: spray half of the copies, and give the others to mediators likelier to meet a
subscriber.

Subscriptions reach every mediator, so each knows for whom a notification is pending. While a mediator has
more than two copies it halves them as in `spray_and_wait.py`, which covers ground fast. Of the last two it
keeps one and gives the other only to a mediator that is clearly likelier to meet such a subscriber (the idea
of spray and focus, Spyropoulos, Psounis and Raghavendra, 2007), with the predictabilities of `encounters.py`.
Unlike in spray and focus, where the last copy moves on, the giver keeps its own, so that the copies bound how
many mediators ever carry a notification.
"""

from collections.abc import Collection
from typing import ClassVar, Final

from dens.overlay.policies.encounters import ONE, PARAMETERS, Encounters
from dens.overlay.policies.kind import Parameter, PolicyKind
from dens.overlay.policies.spray_and_wait import SprayAndWait, budget
from dens.overlay.wire.item import Item

_LAST: Final = 1
"""The code of one copy."""


class SprayAndFollow:
    """Sprays, then follows likelihood.

    >>> policy = DENS(1, copies=2)
    >>> policy.met(3, True, bytes((0, 0, 0, 9, 128, 0)), 0)  # node 3 meets node 9: one half
    >>> fresh = Item(35, 1, 7, 1, 0, 0, 0, b"")
    >>> policy.share(fresh, (9,), 3, 0), policy.share(fresh, (8,), 3, 0)
    (1, None)
    """

    asks_who_is_owed: ClassVar[bool] = True
    shares_everything: ClassVar[bool] = False
    counts_copies: ClassVar[bool] = True

    def __init__(self, node: int, copies: int, utility_threshold: int, encounters: Encounters) -> None:
        self._node = node
        self._spray = SprayAndWait(copies)
        self._threshold = utility_threshold
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
        """Give half of the copies; of the last two give one to a clearly likelier peer only."""
        half = self._spray.share(item, owed_to, peer, now_ms)
        if half != _LAST:
            return half
        known = self._encounters
        for subscriber in owed_to:
            own = known.likelihood(subscriber, now_ms)
            if known.likelihood_of_peer(peer, subscriber) > own + self._threshold:
                return half
        return None

    def kept(self, item: Item, given: int) -> int:
        """Keep the other half."""
        return self._spray.kept(item, given)

    def state(self) -> bytes:
        """Keep the predictabilities."""
        return self._encounters.state()

    def restore(self, state: bytes) -> None:
        """Take up the predictabilities."""
        self._encounters.restore(state)


DENS = PolicyKind(
    "dens",
    "a budget of copies, halved; of two the second to a mediator clearly likelier to meet a subscriber",
    lambda node, copies, utility_threshold, **learning: SprayAndFollow(
        node, copies, utility_threshold, Encounters(**learning)
    ),
    (
        budget(8),
        Parameter(
            "utility_threshold",
            ONE // 16,
            0,
            ONE,
            "how much likelier, in 65536ths, a peer must be for the second of two copies",
        ),
        *PARAMETERS,
    ),
)
