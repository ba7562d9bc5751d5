"""What an engine keeps through a crash, as an interface of few verbs.

A store holds rows: a space (which kind of row), a key, which mostly is a message's identity, and bytes. An
engine stages changes while it works and commits them all at once before anything that depends on them leaves
the node; after a crash it finds exactly what was committed.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Protocol

from dens.overlay.errors import RemoteProtocolError, StoreError
from dens.overlay.wire import envelope
from dens.overlay.wire.item import Item, format_id

Key = int
"""An identity of a message, with or without a node behind it, which counter, or a digest of at most eleven
bytes."""
Value = bytes | Item
"""What a row says. A message is handed over as it is; a store that writes bytes writes `row_of` it."""


class Space(IntEnum):
    """The kinds of rows."""

    ITEM = 1
    """identity → local creation time and the message: what this node holds."""
    KNOWN = 2
    """identity → local time until which it is remembered: what this node has seen."""
    COUNTER = 3
    """which → the least number of that counter that was never used."""
    INBOX = 4
    """identity → a delivery that the application has not taken yet."""
    UNVERIFIED = 5
    """identity → nothing: the message came over a trusted link, and no tag was asked for."""
    QUARANTINED = 6
    """identity → the kinds of work that failed with this message and are not tried with it again."""
    OCCUPIED = 7
    """identity → how many ids and numbers after its own a subscription of this node's occupies."""
    NEIGHBOUR = 8
    """identity → the node by whom an advertisement came to a broker, or to whom a word of the broker's own
    goes. Under the first number of link messages: a neighbour that was met."""
    RESULT = 9
    """digest of a result's identity → its highest rank, until when it is remembered, and who said it."""
    RESERVATION = 10
    """identity and peer → a copy that was sent to this peer and not settled
    (dens/overlay/storage/reservations.py)."""
    POLICY = 11
    """0 → what the replication policy has learnt."""
    LABEL = 12
    """id of a subscription of this node's → its name, in UTF-8. It is never sent."""


def row_of(value: Value) -> bytes:
    """Return the bytes of a row; for a message the local time of its creation, and the envelope."""
    if isinstance(value, bytes):
        return value
    created = value.created_ms.to_bytes(8, "big", signed=True)
    return created + envelope.pack(value, 0, 0, value.hops, 0)


def item_of(key: Key, value: Value) -> Item:
    """Return the message that a row holds, or raise StoreError."""
    if isinstance(value, Item):
        return value
    try:
        item, _, _ = envelope.unpack(value[8:], 0)
    except RemoteProtocolError as error:
        raise StoreError(f"the stored message {format_id(key)} is damaged: {error}") from error
    if item.id != key:
        raise StoreError(f"the stored message {format_id(key)} calls itself {format_id(item.id)}")
    return item.replace(created_ms=int.from_bytes(value[:8], "big", signed=True))


class Store(Protocol):
    """Where an engine keeps its rows."""

    def kept(self, item: Item) -> Item:
        """Return an equal message, which may share its payload with what is kept already."""
        ...

    def put(self, space: int, key: Key, value: Value) -> None:
        """Write a row, replacing one with the same space and key. It is lost in a crash until it is
        committed.
        """
        ...

    def erase(self, space: int, key: Key) -> None:
        """Remove a row, when that is committed; a missing one is no error."""
        ...

    def commit(self) -> None:
        """Make all staged changes durable, all or none. Afterwards they survive any crash."""
        ...

    def load(self) -> Iterator[tuple[int, Key, Value]]:
        """Yield every committed row, ordered by space and key."""
        ...
