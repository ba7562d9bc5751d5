"""This project's own policy: spray a few copies, then give more to mediators likelier to meet a subscriber.

Subscriptions reach every mediator anyway, so each knows whom a notification is owed to. While copies are
left they are halved as in `spray_and_wait.py`, which covers ground fast; the last copy is not left to wait
but is given on to a mediator that is clearly likelier to meet somebody who is owed it (the idea of spray and
focus, Spyropoulos, Psounis and Raghavendra, 2007), with the predictabilities of `encounters.py`. Unlike in
spray and focus, where the last copy is handed over, the giver keeps its own; hence the name is another.
"""

from collections.abc import Collection
from typing import ClassVar

from dens.item import Item
from dens.policies.encounters import ONE, PARAMETERS, Encounters
from dens.policies.kind import Parameter, PolicyKind
from dens.policies.spray_and_wait import SprayAndWait, budget


class SprayAndFollow:
    """Sprays, then follows likelihood.

    >>> policy = DENS(1, copies=2)
    >>> policy.met(3, True, bytes((0, 0, 0, 9, 128, 0)), 0)  # node 3 meets node 9: one half
    >>> last = Item(35, 1, 7, 1, 0, 0, 0, b"", copies=1)
    >>> policy.share(last, (9,), 3, 0), policy.share(last, (8,), 3, 0)
    (1, None)
    """

    asks_who_is_owed: ClassVar[bool] = True
    shares_everything: ClassVar[bool] = False

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
        """Give half of the copies; of the last one give another to a clearly likelier peer."""
        half = self._spray.share(item, owed_to, peer, now_ms)
        if half is not None:
            return half
        known = self._encounters
        for subscriber in owed_to:
            own = known.likelihood(subscriber, now_ms)
            if known.likelihood_of_peer(peer, subscriber) > own + self._threshold:
                return item.copies or 1
        return None

    def kept(self, item: Item, given: int) -> int:
        """Keep the other half; the last copy stays one."""
        return self._spray.kept(item, given)


DENS = PolicyKind(
    "dens",
    "a budget of copies, halved; the last one also to a mediator clearly likelier to meet a subscriber",
    lambda node, copies, utility_threshold, **learning: SprayAndFollow(
        node, copies, utility_threshold, Encounters(**learning)
    ),
    (
        budget(4),
        Parameter(
            "utility_threshold",
            ONE // 16,
            0,
            ONE,
            "how much likelier, in 65536ths, a peer must be for the last copy: copies follow no noise",
        ),
        *PARAMETERS,
    ),
)
