"""Which rows there are and where: groups of rows in blocks of 64, in arenas that grow.

A group has an event class and an attribute mask, by which a directory finds all groups that a notification
can serve. Its rows fill blocks one after the other; a removed row is overwritten by the last one of its
group, and a block that has become empty is taken by the next group that needs one of its form. So adding and
removing cost a constant number of writes, nothing is ever compacted, and the state depends on the sequence of
calls alone. What stands in a row is the business of whoever keeps rows here (`plugins.kernels.rows.rows`, the
sieve of A-ToPSS).
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from plugins.kernels.rows.layout import (
    AT,
    BLOCK_FIELDS,
    COUNT,
    EVENT,
    GROUP_FIELDS,
    NEEDS,
    NEXT,
    NOTHING,
    OWNER,
    PREVIOUS,
    RECORDS,
    ROWS,
    TAIL,
    slot_of,
)
from plugins.kernels.rows.places import Places

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

Form = tuple[int, int]
"""Blocks of one form have the same length and can be exchanged."""

_LEAST_SPARE: Final = 16

T = TypeVar("T", bound=np.generic)


class Removed(NamedTuple):
    """Where a row was, of which group, and the place that holds nothing now."""

    number: int
    place: int
    emptied: int


class GroupedBlocks(ABC):
    """Rows in groups; every key stands in it once at most. Kernels read its arrays as they are.

    `spare` is the share of room beyond what is needed that arenas get when they grow, as one in so many.
    """

    def __init__(self, record: npt.DTypeLike, spare: int) -> None:
        self.arena: Bytes = np.zeros(0, np.uint8)
        self.records: npt.NDArray[Any] = np.zeros(0, record)
        self.groups: Numbers = np.zeros((0, GROUP_FIELDS), np.int64)
        self.blocks: Numbers = np.zeros((0, BLOCK_FIELDS), np.int64)
        self.directory: npt.NDArray[np.int32] = np.full(16, NOTHING, np.int32)
        self.group_count = 0
        self.count = 0
        self._spare = spare
        self._block_count = 0
        self._arena_used = 0
        self._records_used = 0
        self._numbers: dict[Hashable, int] = {}
        self._free: dict[Form, list[int]] = {}
        self._places = Places(self)

    @abstractmethod
    def key_at(self, place: int) -> int:
        """Return the key of the row at this place."""

    @abstractmethod
    def keys_at(self, places: Numbers) -> npt.NDArray[np.uint32]:
        """Return the keys of the rows at these places."""

    @abstractmethod
    def _form(self, number: int) -> Form:
        """Return the form of a group's blocks."""

    @abstractmethod
    def _lengths(self, form: Form) -> tuple[int, int]:
        """Return the bytes of a block, and the words of a row's record."""

    @abstractmethod
    def _move(self, number: int, source: tuple[int, int], target: tuple[int, int]) -> int:
        """Copy a row, (block, row), over another one of its group; return its key."""

    @property
    def held_bytes(self) -> int:
        """Return the bytes of all arrays, including spare room."""
        tables = (self.groups, self.blocks, self.directory, self._places.table)
        return sum(array.nbytes for array in (self.arena, self.records, *tables))

    def holds(self, key: int) -> bool:
        """Return whether there is a row of this key."""
        return self._places.find(key) >= 0

    def places_of(self, number: int) -> Numbers:
        """Return the places of all rows of a group."""
        found: list[Numbers] = []
        block, used = int(self.groups[number, TAIL]), int(self.groups[number, COUNT] - 1) % ROWS + 1
        while block != NOTHING:
            found.append(np.arange(block * ROWS, block * ROWS + used))
            block, used = int(self.blocks[block, PREVIOUS]), ROWS
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _grown(self, array: npt.NDArray[T], wanted: int) -> npt.NDArray[T]:
        """Return the array, or a copy with some spare room, so that it has at least `wanted` entries."""
        if wanted <= len(array):
            return array
        room = wanted + max(wanted // self._spare, _LEAST_SPARE)
        grown = np.zeros((-(-room // 8) * 8, *array.shape[1:]), array.dtype)
        grown[: len(array)] = array
        return grown

    def _new_group(self, group: Hashable, fields: tuple[int, ...]) -> int:
        """Enter a group that is not known yet into the directory; return its number."""
        number = self.group_count
        self.group_count += 1
        self._numbers[group] = number
        self.groups = self._grown(self.groups, self.group_count)
        self.groups[number] = fields
        if 2 * self.group_count > len(self.directory):
            self.directory = np.full(2 * len(self.directory), NOTHING, np.int32)
            for known in range(self.group_count):
                self._enter(known)
        else:
            self._enter(number)
        return number

    def _enter(self, number: int) -> None:
        """Make a group the first of those with its event and mask."""
        event, needs = int(self.groups[number, EVENT]), int(self.groups[number, NEEDS])
        slot = slot_of(event, needs, len(self.directory))
        while self.directory[slot] != NOTHING:
            other = self.groups[self.directory[slot]]
            if other[EVENT] == event and other[NEEDS] == needs:
                break
            slot = (slot + 1) & (len(self.directory) - 1)
        self.groups[number, NEXT] = self.directory[slot]
        self.directory[slot] = number

    def _take(self, number: int) -> tuple[int, int]:
        """Take the next row of a group, in a new block if the last is full; return (block, row)."""
        used = int(self.groups[number, COUNT])
        self.groups[number, COUNT] = used + 1
        if used % ROWS:
            return int(self.groups[number, TAIL]), used % ROWS
        block = self._new_block(self._form(number))
        self.blocks[block, OWNER] = number
        self.blocks[block, PREVIOUS] = self.groups[number, TAIL]
        self.groups[number, TAIL] = block
        return block, 0

    def _take_many(self, number: int, count: int) -> Numbers:
        """Take the next rows of a group; return their places."""
        self._places.reserve(self.count + count)
        places = np.empty(count, np.int64)
        done = 0
        while done < count:
            block, row = self._take(number)
            taken = min(ROWS - row, count - done)
            places[done : done + taken] = np.arange(taken) + (block * ROWS + row)
            self.groups[number, COUNT] += taken - 1
            done += taken
        self.count += count
        return places

    def _remove(self, key: int) -> Removed | None:
        """Overwrite the row of a key by the last one of its group; None where there is none."""
        place = self._places.find(key)
        if place < 0:
            return None
        self._places.drop(key)
        block, row = place // ROWS, place % ROWS
        number = int(self.blocks[block, OWNER])
        tail = int(self.groups[number, TAIL])
        last = int(self.groups[number, COUNT] - 1) % ROWS
        if (block, row) != (tail, last):
            moved = self._move(number, (tail, last), (block, row))
            self._places.move(moved, tail * ROWS + last, place)
        self.groups[number, COUNT] -= 1
        self.count -= 1
        if last == 0:
            self.groups[number, TAIL] = self.blocks[tail, PREVIOUS]
            self._free.setdefault(self._form(number), []).append(tail)
        return Removed(number, place, tail * ROWS + last)

    def _new_block(self, form: Form) -> int:
        """Return a block of this form, whatever stands in it."""
        free = self._free.get(form)
        if free:
            return free.pop()
        block = self._block_count
        self._block_count += 1
        self.blocks = self._grown(self.blocks, self._block_count)
        length, words = self._lengths(form)
        self.blocks[block, AT] = self._arena_used
        self._arena_used += length
        self.arena = self._grown(self.arena, self._arena_used)
        self.blocks[block, RECORDS] = self._records_used
        self._records_used += ROWS * words
        self.records = self._grown(self.records, self._records_used)
        return block
