"""Binary spray and wait: a bounded number of copies, halved at every contact, then direct delivery.

A node that holds n > 1 copies gives half of them to a mediator without any and keeps the rest; with one copy
left it waits for the subscriber (Spyropoulos, Psounis and Raghavendra, 2005, §4). Powers of two are halved
exactly, so a copies code c means 2^(c−1) copies and fits into three bits of the envelope. Code 0, fresh from
the publisher, means the full budget, which a publisher gives to one mediator. A half is spent when it is sent
(dens/overlay/storage/reservations.py), so at most as many mediators as there are copies ever carry a
notification, even if contacts overlap or frames are lost; losses can leave copies unused.
"""

from collections.abc import Collection
from typing import ClassVar, Final

from dens.overlay.errors import LocalProtocolError
from dens.overlay.policies.kind import Parameter, PolicyKind
from dens.overlay.wire.item import Item

BUDGETS: Final = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of copies that halve evenly and have a code of three bits."""


class SprayAndWait:
    """Gives half of the copies away while more than one is left.

    >>> policy = SprayAndWait(copies=8)
    >>> fresh = Item(35, 1, 7, 1, 0, 0, 0, b"")
    >>> policy.share(fresh, (), 3, 0), policy.kept(fresh, 3)  # codes: four copies each
    (3, 3)
    """

    asks_who_is_owed: ClassVar[bool] = False
    shares_everything: ClassVar[bool] = False
    counts_copies: ClassVar[bool] = True

    def __init__(self, copies: int) -> None:
        if copies not in BUDGETS:
            raise LocalProtocolError(f"{copies} copies cannot be halved evenly; use a power of two up to 64")
        self._budget_code = copies.bit_length()

    def note(self, now_ms: int) -> bytes:
        """Return nothing: every peer is treated alike."""
        return b""

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn nothing: every peer is treated alike."""

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        """Give half of the copies; the last one stays."""
        code = item.copies or self._budget_code
        return code - 1 if code > 1 else None

    def kept(self, item: Item, given: int) -> int:
        """Keep the other half, which is equally large."""
        return given

    def state(self) -> bytes:
        """Return nothing: nothing is learnt."""
        return b""

    def restore(self, state: bytes) -> None:
        """Load nothing."""


def budget(copies: int) -> Parameter:
    """Return the parameter that bounds how many mediators carry a notification."""
    return Parameter(
        "copies",
        copies,
        BUDGETS[0],
        BUDGETS[-1],
        "mediators that carry a notification at most, a power of two",
        BUDGETS,
    )


SPRAY_AND_WAIT = PolicyKind(
    "spray_and_wait",
    "a budget of copies, halved at every contact",
    lambda node, copies: SprayAndWait(copies),
    (budget(8),),
)
