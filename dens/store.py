"""What an engine keeps through a crash, as an interface of three verbs.

A store holds rows: a space (which kind of row), a key of two numbers, and bytes. An engine stages changes
while it works and commits them all at once before anything that depends on them leaves the node; after a
crash it finds exactly what was committed.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple, Protocol

from dens import envelope
from dens.errors import RemoteProtocolError, StoreError
from dens.item import Item

Key = tuple[int, int]
Value = bytes | Item
"""What a row says. A message is handed over as it is; a store that writes bytes writes `row_of` it."""


class Space(IntEnum):
    """The kinds of rows."""

    ITEM = 1
    """(origin, number) → local creation time and the message: what this node holds."""
    KNOWN = 2
    """(origin, number) → local time until which it is remembered: what this node has seen."""
    COUNTER = 3
    """(which, 0) → the least number of that counter that was never used."""
    INBOX = 4
    """(origin, number) → a delivery that the application has not taken yet."""
    UNVERIFIED = 5
    """(origin, number) → nothing: the message came over a trusted link, and no tag was asked for."""
    QUARANTINED = 6
    """(origin, number) → the kinds of work that failed with this message and are not tried with it again."""
    OCCUPIED = 7
    """(origin, number) → how many ids and numbers after its own a subscription of this node's occupies."""


class Put(NamedTuple):
    """Write a row, replacing one with the same space and key."""

    space: Space
    key: Key
    value: Value


class Erase(NamedTuple):
    """Remove a row; a missing one is no error."""

    space: Space
    key: Key


Operation = Put | Erase


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
        raise StoreError(f"the stored message {key} is damaged: {error}") from error
    if item.id != key:
        raise StoreError(f"the stored message {key} calls itself {item.id}")
    return item.but(created_ms=int.from_bytes(value[:8], "big", signed=True))


class Store(Protocol):
    """Where an engine keeps its rows."""

    def kept(self, item: Item) -> Item:
        """Return an equal message, which may share its payload with what is kept already."""
        ...

    def stage(self, operation: Operation) -> None:
        """Note a change. It is lost in a crash until it is committed."""
        ...

    def commit(self) -> None:
        """Make all staged changes durable, all or none. Afterwards they survive any crash."""
        ...

    def load(self) -> Iterator[tuple[Space, Key, Value]]:
        """Yield every committed row, ordered by space and key."""
        ...
