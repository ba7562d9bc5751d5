"""Reserved copies: spent on a peer that has not acknowledged them yet, or returned.

A policy that counts copies divides its budget with every copy. The copy is *reserved* for the peer when it is
sent, durably, so that a second peer in range is offered only the rest. It becomes

    settled    the peer stored it, or its next summary names the message
    returned   the peer refused it or has the message from another node, or its summary in a later session
               lacks the message: the copy goes to another peer, with the same code

docs/decisions/0035-copy-budgets.md has the reasons.
"""

from struct import Struct
from typing import Final

from dens.overlay.wire.codes import LINK_NUMBER
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK, ItemId

_ROW: Final = Struct(">BB?I")

COUNTED: Final = b"\x01"
"""Note of a mediator to a publisher: its policy counts copies."""
RETURNED: Final = LINK_NUMBER
"""Returned copies have a number from here on in place of a peer; no node has such a number."""


class Reservation:
    """A reserved copy. Immutable."""

    __slots__ = ("before", "given", "is_settled", "session")

    def __init__(self, before: int, given: int, session: int, is_settled: bool = False) -> None:
        self.before = before
        """Copies code of the giver before."""
        self.given = given
        """Copies code of the copy."""
        self.session = session
        """The session of the peer in which it was sent."""
        self.is_settled = is_settled
        """Whether the peer has it. Publishers keep this, because they give a notification away once."""

    def encode(self) -> bytes:
        return _ROW.pack(self.before, self.given, self.is_settled, self.session)

    @staticmethod
    def decode(row: bytes) -> "Reservation":
        before, given, is_settled, session = _ROW.unpack(row)
        return Reservation(before, given, session, is_settled)


def row_key(item_id: ItemId, peer: int) -> int:
    """Return the key of a row."""
    return item_id << NUMBER_BITS | peer


class Reservations:
    """The reservations of one node, by message and by peer.

    >>> reservations = Reservations()
    >>> reservations.put(12, 7, Reservation(4, 3, 1))
    >>> reservations.peers_of(12), [item_id for item_id, _ in reservations.sent_to(7)]
    ([7], [12])
    """

    __slots__ = ("_by_peer", "by_item")

    def __init__(self) -> None:
        self.by_item: Final[dict[ItemId, dict[int, Reservation]]] = {}
        """Message → peer, or a number from `RETURNED` on → reservation; for reading."""
        self._by_peer: dict[int, dict[ItemId, None]] = {}

    def put(self, item_id: ItemId, peer: int, reservation: Reservation) -> None:
        """Add or replace a reservation."""
        self.by_item.setdefault(item_id, {})[peer] = reservation
        self._by_peer.setdefault(peer, {})[item_id] = None

    def restore(self, key: int, row: bytes) -> None:
        """Load a row."""
        self.put(key >> NUMBER_BITS, key & NUMBER_MASK, Reservation.decode(row))

    def remove(self, item_id: ItemId, peer: int) -> None:
        of_item = self.by_item[item_id]
        del of_item[peer]
        if not of_item:
            del self.by_item[item_id]
        of_peer = self._by_peer[peer]
        del of_peer[item_id]
        if not of_peer:
            del self._by_peer[peer]

    def peers_of(self, item_id: ItemId) -> list[int]:
        """Return the peers with a reserved copy of this message."""
        return list(self.by_item.get(item_id, ()))

    def place_for_returned(self, item_id: ItemId) -> int:
        """Return an unused number for a returned copy of this message."""
        place = RETURNED
        while place in self.by_item[item_id]:
            place += 1
        return place

    def sent_to(self, peer: int) -> list[tuple[ItemId, Reservation]]:
        """Return the copies that were sent to this peer and are not settled."""
        sent = [(item_id, self.by_item[item_id][peer]) for item_id in self._by_peer.get(peer, ())]
        return [(item_id, reservation) for item_id, reservation in sent if not reservation.is_settled]
