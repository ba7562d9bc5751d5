"""Copies of notifications that are spent but not settled: sent to a peer that has not answered, or returned.

A policy that counts copies divides its budget with every copy that it sends. The copy is *reserved* for the
peer when it leaves, durably, so that a second peer in range is offered only what is left. It ends as

    settled    the peer stored it, or its next summary names the message
    returned   the peer refused it or has the message from somebody else, or its summary in a later session
               lacks the message: the copy goes to another peer instead, with the same code

docs/decisions/0035-copy-budgets.md has the reasons.
"""

from struct import Struct
from typing import Final

from dens.overlay.wire.codes import LINK_NUMBER
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK, ItemId

_ROW: Final = Struct(">BB?I")

COUNTED: Final = b"\x01"
"""The note of a mediator to a publisher that its policy counts copies."""
RETURNED: Final = LINK_NUMBER
"""Returned copies have numbers from here on in the place of a peer, which no node has."""


class Reservation:
    """One copy. It never changes."""

    __slots__ = ("before", "given", "is_settled", "session")

    def __init__(self, before: int, given: int, session: int, is_settled: bool = False) -> None:
        self.before = before
        """The copies code that the giver held before."""
        self.given = given
        """The copies code that the copy carries."""
        self.session = session
        """The session of the peer in which it was sent."""
        self.is_settled = is_settled
        """Whether the peer has it. A publisher remembers that, because it gives a notification away once."""

    def encode(self) -> bytes:
        """Return the row of a store."""
        return _ROW.pack(self.before, self.given, self.is_settled, self.session)

    @staticmethod
    def decode(row: bytes) -> "Reservation":
        """Read a row of a store."""
        before, given, is_settled, session = _ROW.unpack(row)
        return Reservation(before, given, session, is_settled)


def row_key(item_id: ItemId, peer: int) -> int:
    """Return the key of a row."""
    return item_id << NUMBER_BITS | peer


class Reservations:
    """The reservations of one node, by message and by peer.

    >>> book = Reservations()
    >>> book.put(12, 7, Reservation(4, 3, 1))
    >>> book.peers_of(12), [item_id for item_id, _ in book.sent_to(7)]
    ([7], [12])
    """

    __slots__ = ("_by_peer", "by_item")

    def __init__(self) -> None:
        self.by_item: Final[dict[ItemId, dict[int, Reservation]]] = {}
        """Message → peer, or a number from `RETURNED` on → reservation; for reading."""
        self._by_peer: dict[int, dict[ItemId, None]] = {}

    def put(self, item_id: ItemId, peer: int, reservation: Reservation) -> None:
        """Hold a reservation in place of an older one."""
        self.by_item.setdefault(item_id, {})[peer] = reservation
        self._by_peer.setdefault(peer, {})[item_id] = None

    def restore(self, key: int, row: bytes) -> None:
        """Hold what a row of a store says."""
        self.put(key >> NUMBER_BITS, key & NUMBER_MASK, Reservation.decode(row))

    def remove(self, item_id: ItemId, peer: int) -> None:
        """Forget a reservation."""
        of_item = self.by_item[item_id]
        del of_item[peer]
        if not of_item:
            del self.by_item[item_id]
        of_peer = self._by_peer[peer]
        del of_peer[item_id]
        if not of_peer:
            del self._by_peer[peer]

    def peers_of(self, item_id: ItemId) -> list[int]:
        """Return for whom copies of this message are reserved."""
        return list(self.by_item.get(item_id, ()))

    def place_for_returned(self, item_id: ItemId) -> int:
        """Return a number for a returned copy of this message."""
        place = RETURNED
        while place in self.by_item[item_id]:
            place += 1
        return place

    def sent_to(self, peer: int) -> list[tuple[ItemId, Reservation]]:
        """Return what was sent to this peer and is not settled."""
        sent = [(item_id, self.by_item[item_id][peer]) for item_id in self._by_peer.get(peer, ())]
        return [(item_id, one) for item_id, one in sent if not one.is_settled]
