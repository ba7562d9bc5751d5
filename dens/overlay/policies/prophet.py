"""PRoPHET: copy to a mediator that is likelier than this one to meet a subscriber with a pending delivery.

The forwarding rule is GRTR of RFC 6693 §3.6, applied to each subscriber for whom the notification is pending;
predictabilities are those of `encounters.py`. A notification that is pending for no known subscriber has no
destination yet and stays where it is.
"""

from collections.abc import Collection
from typing import ClassVar

from dens.overlay.policies.encounters import PARAMETERS, EncounterPolicy, Encounters
from dens.overlay.policies.kind import PolicyKind
from dens.overlay.wire.item import Item


class Prophet(EncounterPolicy):
    """Compares predictabilities; copies are not counted.

    >>> policy = PROPHET(1)
    >>> policy.met(3, True, bytes((0, 0, 0, 9, 128, 0)), 0)  # node 3 meets node 9: one half
    >>> item = Item(35, 1, 7, 1, 0, 0, 0, b"")
    >>> policy.share(item, (9,), 3, 0), policy.share(item, (8,), 3, 0)
    (0, None)
    """

    counts_copies: ClassVar[bool] = False

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Give a copy to a peer that is likelier to meet one of these subscribers."""
        return 0 if self._is_likelier(peer, owed_to, 0, now_ms) else None

    def kept(self, item: Item, given: int) -> int:
        """Return 0: copies are not counted."""
        return 0


PROPHET = PolicyKind(
    "prophet",
    "to a mediator likelier to meet a subscriber for whom it is pending",
    lambda node, **learning: Prophet(node, Encounters(**learning)),
    PARAMETERS,
)
