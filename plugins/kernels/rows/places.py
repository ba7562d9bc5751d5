"""Where a key's row is: an open-addressing table that holds nothing but places.

A place is 32 bits; the key that belongs to it stands in the row itself and is looked at there. The table is
kept between about half and four fifths full, that is five to eight bytes per subscription. Deletion closes
the gap it makes (backward shift), so searches never pass over graves.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

FREE = 0


def home_of(key: int, slots: int) -> int:
    """Return where the search for a key begins."""
    return ((key * 2654435761 & 0xFFFFFFFF) * slots) >> 32


def enter(table: npt.NDArray[np.uint32], key: int, place: int) -> None:
    """Note the place of a key that the table does not have."""
    slots = len(table)
    slot = home_of(key, slots)
    while table[slot] != FREE:
        slot += 1
        if slot == slots:
            slot = 0
    table[slot] = place + 1


def enter_all(table: npt.NDArray[np.uint32], keys: npt.NDArray[np.uint32], places: Numbers) -> None:
    """Note the places of keys that the table does not have."""
    for i in range(len(keys)):
        enter(table, int(keys[i]), int(places[i]))


def fill(table: npt.NDArray[np.uint32], keys: npt.NDArray[np.uint32], places: Numbers) -> None:
    """Note many places, by compiled code where there is enough to do."""
    from plugins.kernels.compiled import compiled, is_available

    if len(keys) > 10_000 and is_available():
        compiled(enter_all)(table, keys, places)
    else:
        for key, place in zip(keys.tolist(), places.tolist(), strict=True):
            enter(table, key, place)


class Rows(Protocol):
    """What a table of places must know of the rows: they own the keys."""

    def key_at(self, place: int) -> int:
        """Return the key of the row at this place."""
        ...

    def keys_at(self, places: Numbers) -> npt.NDArray[np.uint32]:
        """Return the keys of the rows at these places."""
        ...


class Places:
    """Finds the places of rows by key."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.table: npt.NDArray[np.uint32] = np.zeros(16, np.uint32)

    def reserve(self, count: int) -> None:
        """Make room for `count` keys in all."""
        if 5 * count <= 4 * len(self.table):
            return
        old = self.table[self.table != FREE].astype(np.int64) - 1
        self.table = np.zeros(max(16, count + count // 2 + count // 4), np.uint32)
        fill(self.table, self._rows.keys_at(old), old)

    def find(self, key: int) -> int:
        """Return the place of a key, or -1."""
        slot = self._slot(key)
        return -1 if slot < 0 else int(self.table[slot]) - 1

    def move(self, key: int, place: int, to: int) -> None:
        """Note that a row has moved."""
        slot = home_of(key, len(self.table))
        while self.table[slot] != place + 1:
            slot = (slot + 1) % len(self.table)
        self.table[slot] = to + 1

    def drop(self, key: int) -> None:
        """Forget a key that is held, and let those behind it that were pushed aside close the gap."""
        table, slots = self.table, len(self.table)
        gap = self._slot(key)
        slot = gap
        while True:
            slot = (slot + 1) % slots
            if table[slot] == FREE:
                break
            home = home_of(self._rows.key_at(int(table[slot]) - 1), slots)
            if (slot - home) % slots >= (slot - gap) % slots:
                table[gap] = table[slot]
                gap = slot
        table[gap] = FREE

    def _slot(self, key: int) -> int:
        table = self.table
        slot = home_of(key, len(table))
        while table[slot] != FREE:
            if self._rows.key_at(int(table[slot]) - 1) == key:
                return slot
            slot = (slot + 1) % len(table)
        return -1
