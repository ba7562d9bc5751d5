"""Interface of a durable store.

A store has rows: a space (the kind of row), a key (mostly a message id) and bytes. An engine stages changes
and commits them at once before anything that depends on them leaves the node; after a crash it finds exactly
what was committed.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Protocol

from dens.overlay.errors import RemoteProtocolError, StoreError
from dens.overlay.wire import envelope
from dens.overlay.wire.item import Item, format_id

Key = int
"""A message id, with or without a node appended; a counter; or a digest of at most eleven bytes."""
Value = bytes | Item
"""Content of a row. A message is passed as an object; a store that writes bytes writes its `row_of`."""


class Space(IntEnum):
    ITEM = 1
    """message → local creation time and envelope of a held message."""
    KNOWN = 2
    """message → local time until which its id is remembered."""
    COUNTER = 3
    """counter → its lowest unused number."""
    INBOX = 4
    """message → a delivery that the application has not taken yet."""
    UNVERIFIED = 5
    """message → nothing: it came over a trusted link, without a tag."""
    QUARANTINED = 6
    """message → kinds of work that failed with it and are not tried again."""
    OCCUPIED = 7
    """message → number of ids and numbers after its own that a subscription of this node occupies."""
    NEIGHBOUR = 8
    """message → sender of an advertisement at a broker, or receiver of a message of the broker. With the
    first link number: a neighbour that was met.
    """
    RESULT = 9
    """digest of the identity of a result → highest rank, time until which it is remembered, origin."""
    RESERVATION = 10
    """message and peer → a reserved copy (dens/overlay/storage/reservations.py)."""
    POLICY = 11
    """0 → state of the replication policy."""
    LABEL = 12
    """id of a subscription of this node → its name in UTF-8; never sent."""


def row_of(value: Value) -> bytes:
    """Return the bytes of a row; of a message: local creation time and envelope."""
    if isinstance(value, bytes):
        return value
    created = value.created_ms.to_bytes(8, "big", signed=True)
    return created + envelope.pack(value, 0, 0, value.hops, 0)


def item_of(key: Key, value: Value) -> Item:
    """Return the message of a row, or raise StoreError."""
    if isinstance(value, Item):
        return value
    try:
        item, _, _ = envelope.unpack(value[8:], 0)
    except RemoteProtocolError as error:
        raise StoreError(f"the stored message {format_id(key)} is damaged: {error}") from error
    if item.id != key:
        raise StoreError(f"the stored message {format_id(key)} has the id {format_id(item.id)}")
    return item.replace(created_ms=int.from_bytes(value[:8], "big", signed=True))


class Store(Protocol):
    """The durable rows of one engine."""

    def kept(self, item: Item) -> Item:
        """Return an equal message, which may share its payload with a stored one."""
        ...

    def put(self, space: int, key: Key, value: Value) -> None:
        """Stage a row, in place of one with the same space and key. Until the commit a crash loses it."""
        ...

    def erase(self, space: int, key: Key) -> None:
        """Stage the removal of a row; a missing one is ignored."""
        ...

    def commit(self) -> None:
        """Make all staged changes durable, all or none."""
        ...

    def load(self) -> Iterator[tuple[int, Key, Value]]:
        """Yield every committed row, ordered by space and key."""
        ...
