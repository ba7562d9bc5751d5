"""This project's own policy: spray half of the copies, then give one to a mediator likelier to meet a
subscriber.

Subscriptions reach every mediator, so each knows for whom a notification is pending. A mediator with more
than two copies halves them as in `spray_and_wait.py`, which covers ground fast. Of the last two it keeps one
and gives the other only to a mediator that is clearly likelier to meet such a subscriber (the idea of spray
and focus, Spyropoulos, Psounis and Raghavendra, 2007), by the predictabilities of `encounters.py`. In spray
and focus the last copy moves on; here the giver keeps its own, so that the number of copies bounds how many
mediators ever carry a notification.
"""

from collections.abc import Collection
from typing import ClassVar, Final

from dens.overlay.policies.encounters import ONE, PARAMETERS, EncounterPolicy, Encounters
from dens.overlay.policies.kind import Parameter, PolicyKind
from dens.overlay.policies.spray_and_wait import SprayAndWait, budget
from dens.overlay.wire.item import Item

_ONE_COPY: Final = 1
"""The copies code of a single copy."""


class SprayAndFollow(EncounterPolicy):
    """Sprays, then follows the likelihood of meeting a subscriber.

    >>> policy = DENS(1, copies=2)
    >>> policy.met(3, True, bytes((0, 0, 0, 9, 128, 0)), 0)  # node 3 meets node 9: one half
    >>> fresh = Item(35, 1, 7, 1, 0, 0, 0, b"")
    >>> policy.share(fresh, (9,), 3, 0), policy.share(fresh, (8,), 3, 0)
    (1, None)
    """

    counts_copies: ClassVar[bool] = True

    def __init__(self, node: int, copies: int, utility_threshold: int, encounters: Encounters) -> None:
        super().__init__(node, encounters)
        self._spray = SprayAndWait(copies)
        self._threshold = utility_threshold

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Give half of the copies; the second of the last two only to a clearly likelier peer."""
        half = self._spray.share(item, owed_to, peer, now_ms)
        if half != _ONE_COPY or self._is_likelier(peer, owed_to, self._threshold, now_ms):
            return half
        return None

    def kept(self, item: Item, given: int) -> int:
        """Keep the other half."""
        return self._spray.kept(item, given)


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
