"""Where a key's row is: an open-addressing table that holds nothing but places.

A place is 32 bits; the key that belongs to it stands in the row itself and is looked at there. The table is
kept between about half and four fifths full, that is five to eight bytes a subscription. Deletion closes
the gap it makes (backward shift), so searches never pass over graves.
"""

import numpy as np
import numpy.typing as npt

from plugins.kernels import layout
from plugins.kernels.layout import AT, OWNER, ROWS, SIZE

Bytes = npt.NDArray[np.uint8]
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


class Places:
    """Finds the places of rows by key; the rows are passed in, because they own the keys."""

    def __init__(self) -> None:
        self.table: npt.NDArray[np.uint32] = np.zeros(16, np.uint32)

    def reserve(self, count: int, arena: Bytes, blocks: Numbers, groups: Numbers) -> None:
        """Make room for `count` keys in all."""
        if 5 * count <= 4 * len(self.table):
            return
        old = self.table[self.table != FREE].astype(np.int64) - 1
        self.table = np.zeros(max(16, count + count // 2 + count // 4), np.uint32)
        fill(self.table, _keys_at(old, arena, blocks, groups), old)

    def put(self, key: int, place: int) -> None:
        """Note the place of a new key."""
        enter(self.table, key, place)

    def find(self, key: int, arena: Bytes, blocks: Numbers, groups: Numbers) -> int:
        """Return the place of a key, or -1."""
        slot = self._slot(key, arena, blocks, groups)
        return -1 if slot < 0 else int(self.table[slot]) - 1

    def move(self, key: int, place: int, to: int) -> None:
        """Note that a row has moved."""
        slot = home_of(key, len(self.table))
        while self.table[slot] != place + 1:
            slot = (slot + 1) % len(self.table)
        self.table[slot] = to + 1

    def drop(self, key: int, arena: Bytes, blocks: Numbers, groups: Numbers) -> None:
        """Forget a key that is held, and let those behind it that were pushed aside close the gap."""
        table, slots = self.table, len(self.table)
        gap = self._slot(key, arena, blocks, groups)
        slot = gap
        while True:
            slot = (slot + 1) % slots
            if table[slot] == FREE:
                break
            place = np.array([int(table[slot]) - 1])
            home = home_of(int(_keys_at(place, arena, blocks, groups)[0]), slots)
            if (slot - home) % slots >= (slot - gap) % slots:
                table[gap] = table[slot]
                gap = slot
        table[gap] = FREE

    def _slot(self, key: int, arena: Bytes, blocks: Numbers, groups: Numbers) -> int:
        table, words = self.table, arena.view(np.uint32)
        slot = home_of(key, len(table))
        while table[slot] != FREE:
            place = int(table[slot]) - 1
            block = blocks[place // ROWS]
            start = int(block[AT]) + layout.keys_at(int(groups[block[OWNER], SIZE]))
            if words[(start >> 2) + place % ROWS] == key:
                return slot
            slot = (slot + 1) % len(table)
        return -1


def _keys_at(places: Numbers, arena: Bytes, blocks: Numbers, groups: Numbers) -> npt.NDArray[np.uint32]:
    """Return the keys of the rows at these places."""
    owners = blocks[places // ROWS]
    starts = owners[:, AT] + layout.keys_at(groups[owners[:, OWNER], SIZE])
    keys: npt.NDArray[np.uint32] = arena.view(np.uint32)[(starts >> 2) + places % ROWS]
    return keys
