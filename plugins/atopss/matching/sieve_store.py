"""Rows of subscriptions for the sieve: bytes of possible cuts, and records for verification.

Rows are in groups of equal event and attributes (`plugins.kernels.rows.grouped_blocks`). Per predicate a
block has two columns of bytes, the first and the last 255th of the axis that its cut touches; the record of a
row has, in a separate array, everything for the verdict (`plugins.atopss.matching.sieve_scan`).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plugins.kernels.rows.grouped_blocks import Bytes, Form, GroupedBlocks, Numbers
from plugins.kernels.rows.layout import (
    AT,
    EVENT,
    GROUP_FIELDS,
    NEEDS,
    NOTHING,
    OWNER,
    RECORDS,
    ROWS,
    SIZE,
    TAIL,
)
from plugins.kernels.rows.places import enter, fill

Words = npt.NDArray[np.int32]

MOST_SIZE = 64
"""Predicates of a row."""

_SPARE = 64
"""Arenas grow in small steps: records are long, and there may be a million."""


@dataclass(frozen=True, slots=True)
class SieveGroup:
    """Common data of a group: the event, and the attribute of each predicate."""

    event: int
    attributes: tuple[int, ...]


class SieveStore(GroupedBlocks):
    """Rows in groups; numbers are unique. A record of `size` predicates has head + each·size words, the first
    of which is the number.
    """

    records: Words

    def __init__(self, head: int, each: int) -> None:
        super().__init__(np.int32, _SPARE)
        self._head, self._each = head, each
        self.attributes: Bytes = np.zeros((0, 4), np.uint8)

    @property
    def held_bytes(self) -> int:
        """Return the bytes of all arrays, including spare room."""
        return super().held_bytes + self.attributes.nbytes

    def put_all(self, group: SieveGroup, firsts: Bytes, lasts: Bytes, records: Words) -> None:
        """Add new rows of one group: cuts by row and rank, and their records."""
        places = self._take_many(self._number(group), len(records))
        blocks, rows = places // ROWS, places % ROWS
        for rank in range(len(group.attributes)):
            at = self.blocks[blocks, AT] + 2 * ROWS * rank + rows
            self.arena[at] = firsts[:, rank]
            self.arena[at + ROWS] = lasts[:, rank]
        length = self._words(len(group.attributes))
        begins = self.blocks[blocks, RECORDS] + rows * length
        for word in range(length):
            self.records[begins + word] = records[:, word]
        keys = records[:, 0].astype(np.uint32)
        if len(records) == 1:
            enter(self._places.table, int(keys[0]), int(places[0]))
        else:
            fill(self._places.table, keys, places)

    def remove(self, number: int) -> bool:
        """Remove the row of this number; return whether there was one."""
        return self._remove(number) is not None

    def key_at(self, place: int) -> int:
        """Return the number of the row at this place."""
        return int(np.uint32(self.records[int(self._begins(np.array([place]))[0])]))

    def keys_at(self, places: Numbers) -> npt.NDArray[np.uint32]:
        """Return the numbers of the rows at these places."""
        return self.records[self._begins(places)].astype(np.uint32)

    def _begins(self, places: Numbers) -> Numbers:
        """Return where the records of rows begin."""
        blocks = self.blocks[places // ROWS]
        sizes = self.groups[blocks[:, OWNER], SIZE]
        begins: Numbers = blocks[:, RECORDS] + places % ROWS * (self._head + self._each * sizes)
        return begins

    def _words(self, size: int) -> int:
        return self._head + self._each * size

    def _form(self, number: int) -> Form:
        """Return the size of a group; the rest is constant."""
        return int(self.groups[number, SIZE]), 0

    def _lengths(self, form: Form) -> tuple[int, int]:
        """Return the bytes of a block and the words of a record."""
        return 2 * ROWS * form[0], self._words(form[0])

    def _move(self, number: int, source: tuple[int, int], target: tuple[int, int]) -> int:
        """Copy a row over another one of its group; return its number."""
        size = int(self.groups[number, SIZE])
        length = self._words(size)
        origin, goal = int(self.blocks[source[0], AT]), int(self.blocks[target[0], AT])
        for line in range(2 * size):
            self.arena[goal + ROWS * line + target[1]] = self.arena[origin + ROWS * line + source[1]]
        begin = int(self.blocks[source[0], RECORDS]) + source[1] * length
        into = int(self.blocks[target[0], RECORDS]) + target[1] * length
        self.records[into : into + length] = self.records[begin : begin + length]
        return int(np.uint32(self.records[into]))

    def _number(self, group: SieveGroup) -> int:
        """Return a group's number; a new one is added to the directory."""
        if group in self._numbers:
            return self._numbers[group]
        fields = [0] * GROUP_FIELDS
        fields[EVENT], fields[SIZE], fields[TAIL] = group.event, len(group.attributes), NOTHING
        fields[NEEDS] = sum(1 << attribute for attribute in set(group.attributes))
        number = self._new_group(group, tuple(fields))
        missing = max(len(group.attributes) - self.attributes.shape[1], 0)
        grown = self._grown(self.attributes, self.group_count)
        self.attributes = np.pad(grown, ((0, 0), (0, missing))) if missing else grown
        self.attributes[number, : len(group.attributes)] = group.attributes
        return number
