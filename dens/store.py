"""What an engine keeps through a crash, as an interface of three verbs.

A store holds rows: a space (which kind of row), a key of two numbers, and bytes. An engine stages changes
while it works and commits them all at once before anything that depends on them leaves the node; after a
crash it finds exactly what was committed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

Key = tuple[int, int]


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


@dataclass(frozen=True, slots=True)
class Put:
    """Write a row, replacing one with the same space and key."""

    space: Space
    key: Key
    value: bytes


@dataclass(frozen=True, slots=True)
class Erase:
    """Remove a row; a missing one is no error."""

    space: Space
    key: Key


Operation = Put | Erase


class Store(Protocol):
    """Where an engine keeps its rows."""

    def stage(self, operation: Operation) -> None:
        """Note a change. It is lost in a crash until it is committed."""
        ...

    def commit(self) -> None:
        """Make all staged changes durable, all or none. Afterwards they survive any crash."""
        ...

    def load(self) -> Iterator[tuple[Space, Key, bytes]]:
        """Yield every committed row, ordered by space and key."""
        ...
