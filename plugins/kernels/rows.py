"""A store of subscriptions as columns: groups of rows in blocks, found by key
(docs/decisions/0003-matching.md).

Adding and removing a row costs a constant number of writes; a removed row is overwritten by the last one of
its group, so nothing is ever compacted and the state depends on the sequence of calls alone. What is
searched for a notification is `plugins.kernels.scan` (compiled) or `plugins.kernels.numpy_scan`, on the
same arrays.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from plugins.kernels import layout
from plugins.kernels.layout import (
    AT,
    COUNT,
    EMPTY,
    EVENT,
    NEEDS,
    NEXT,
    NOTHING,
    OWNER,
    PREVIOUS,
    ROWS,
    SIZE,
    TAIL,
)
from plugins.kernels.places import Places, fill

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
T = TypeVar("T", np.uint8, np.int64)


@dataclass(frozen=True, slots=True)
class Group:
    """What all rows of a group have in common. `needs` is the attribute mask without the age.

    `flips` has a bit for every complemented constraint, lowest rank first; `pattern` is what the aggregator
    needs more, with its length byte, or nothing.
    """

    event: int
    needs: int
    aged: bool
    kind: int
    flips: int
    size: int
    pattern: bytes


class RowStore:
    """Rows (key, floor, constraints, weights) in groups; every key stands in it once at most."""

    def __init__(self) -> None:
        self.arena: Bytes = np.zeros(0, np.uint8)
        self.groups: Numbers = np.zeros((0, layout.GROUP_FIELDS), np.int64)
        self.blocks: Numbers = np.zeros((0, layout.BLOCK_FIELDS), np.int64)
        self.directory: npt.NDArray[np.int32] = np.full(16, NOTHING, np.int32)
        self.patterns: Numbers = np.zeros(0, np.int64)
        self.group_count = 0
        self.count = 0
        self._block_count = 0
        self._arena_used = 0
        self._patterns_used = 0
        self._numbers: dict[Group, int] = {}
        self._free: dict[int, list[int]] = {}
        self._places = Places()

    @property
    def held_bytes(self) -> int:
        """Return the bytes of all arrays, spare room included."""
        arrays = (self.arena, self.groups, self.blocks, self.directory, self.patterns, self._places.table)
        return sum(array.nbytes for array in arrays)

    def put(
        self,
        group: Group,
        key: int,
        floor: int,
        triples: Bytes,
        slopes: npt.NDArray[np.uint16],
        weights: bytes = b"",
    ) -> None:
        """Hold a row that is not held yet: `triples` are (v, V) by rank, `slopes` 256·γ by rank."""
        number = self._number(group)
        block, slot = self._room(number)
        at = int(self.blocks[block, AT]) + slot
        size = group.size
        for rank in range(size):
            self.arena[at + layout.lows_at(size, rank)] = triples[rank, 0]
            self.arena[at + layout.highs_at(size, rank)] = triples[rank, 1]
            self._shorts[(at + slot + layout.slopes_at(rank)) >> 1] = slopes[rank]
            if weights:
                self.arena[at + layout.weights_at(size, rank)] = weights[rank]
        self._words[(at + 3 * slot + layout.keys_at(size)) >> 2] = key
        self.arena[at + layout.floors_at(size)] = floor
        self._places.reserve(self.count + 1, self.arena, self.blocks, self.groups)
        self._places.put(key, block * ROWS + slot)
        self.count += 1

    def put_all(
        self,
        group: Group,
        keys: npt.NDArray[np.uint32],
        floors: Bytes,
        triples: Bytes,
        slopes: npt.NDArray[np.uint16],
    ) -> None:
        """Hold many rows of one group that are not held yet: triples[row, rank] is (v, V)."""
        number = self._number(group)
        self._places.reserve(self.count + len(keys), self.arena, self.blocks, self.groups)
        places = np.empty(len(keys), np.int64)
        size, done = group.size, 0
        while done < len(keys):
            block, slot = self._room(number)
            taken = min(ROWS - slot, len(keys) - done)
            rows, at = slice(done, done + taken), int(self.blocks[block, AT])
            for rank in range(size):
                for column, start in enumerate((layout.lows_at(size, rank), layout.highs_at(size, rank))):
                    self.arena[at + start + slot : at + start + slot + taken] = triples[rows, rank, column]
                begin = (at + layout.slopes_at(rank) >> 1) + slot
                self._shorts[begin : begin + taken] = slopes[rows, rank]
            begin = (at + layout.keys_at(size) >> 2) + slot
            self._words[begin : begin + taken] = keys[rows]
            begin = at + layout.floors_at(size) + slot
            self.arena[begin : begin + taken] = floors[rows]
            places[rows] = np.arange(taken) + (block * ROWS + slot)
            self.groups[number, COUNT] += taken - 1
            done += taken
        self.count += len(keys)
        fill(self._places.table, keys, places)

    def remove(self, key: int) -> bool:
        """Forget the row of this key; say whether there was one."""
        place = self._places.find(key, self.arena, self.blocks, self.groups)
        if place < 0:
            return False
        self._places.drop(key, self.arena, self.blocks, self.groups)
        block, slot = place // ROWS, place % ROWS
        number = int(self.blocks[block, OWNER])
        size = int(self.groups[number, SIZE])
        tail = int(self.groups[number, TAIL])
        last = int(self.groups[number, COUNT] - 1) % ROWS
        if (block, slot) != (tail, last):
            moved = self._move(number, (tail, last), (block, slot))
            self._places.move(moved, tail * ROWS + last, place)
        self.arena[int(self.blocks[tail, AT]) + layout.floors_at(size) + last] = EMPTY
        self.groups[number, COUNT] -= 1
        self.count -= 1
        if last == 0:
            self.groups[number, TAIL] = self.blocks[tail, PREVIOUS]
            self._free.setdefault(self._block_bytes(number), []).append(tail)
        return True

    def holds(self, key: int) -> bool:
        """Tell whether there is a row of this key."""
        return self._places.find(key, self.arena, self.blocks, self.groups) >= 0

    def change_floor(self, key: int, floor: int) -> None:
        """Set the floor of a row that is held."""
        place = self._places.find(key, self.arena, self.blocks, self.groups)
        block = place // ROWS
        size = int(self.groups[self.blocks[block, OWNER], SIZE])
        self.arena[int(self.blocks[block, AT]) + layout.floors_at(size) + place % ROWS] = floor

    @property
    def _shorts(self) -> npt.NDArray[np.uint16]:
        return self.arena.view(np.uint16)

    @property
    def _words(self) -> npt.NDArray[np.uint32]:
        return self.arena.view(np.uint32)

    def _move(self, number: int, source: tuple[int, int], target: tuple[int, int]) -> int:
        """Copy a row over another one of its group; return its key."""
        size = int(self.groups[number, SIZE])
        origin, goal = int(self.blocks[source[0], AT]), int(self.blocks[target[0], AT])
        for line in range(2 * size + 4, self._block_bytes(number) // 64):
            self.arena[goal + 64 * line + target[1]] = self.arena[origin + 64 * line + source[1]]
        for rank in range(size):
            shorts, at = self._shorts, layout.slopes_at(rank) >> 1
            shorts[(goal >> 1) + at + target[1]] = shorts[(origin >> 1) + at + source[1]]
        words, at = self._words, layout.keys_at(size) >> 2
        key = int(words[(origin >> 2) + at + source[1]])
        words[(goal >> 2) + at + target[1]] = key
        return key

    def _block_bytes(self, number: int) -> int:
        return layout.block_bytes(int(self.groups[number, SIZE]), int(self.groups[number, layout.KIND]))

    def _room(self, number: int) -> tuple[int, int]:
        """Take the next row of a group, in a new block if the last is full; return (block, row)."""
        used = int(self.groups[number, COUNT])
        self.groups[number, COUNT] = used + 1
        if used % ROWS == 0:
            block = self._new_block(number)
            self.blocks[block, PREVIOUS] = self.groups[number, TAIL]
            self.groups[number, TAIL] = block
            return block, 0
        return int(self.groups[number, TAIL]), used % ROWS

    def _new_block(self, number: int) -> int:
        length = self._block_bytes(number)
        free = self._free.get(length)
        if free:
            block = free.pop()
        else:
            block = self._block_count
            self._block_count += 1
            self.blocks = _grown(self.blocks, self._block_count)
            self.blocks[block, AT] = self._arena_used
            self._arena_used += length
            self.arena = _grown(self.arena, self._arena_used)
        at = int(self.blocks[block, AT])
        floors = at + layout.floors_at(int(self.groups[number, SIZE]))
        self.arena[floors : floors + ROWS] = EMPTY
        self.blocks[block, OWNER] = number
        return block

    def _number(self, group: Group) -> int:
        """Return a group's number; a new one is entered into the directory."""
        if group in self._numbers:
            return self._numbers[group]
        number = self.group_count
        self.group_count += 1
        self._numbers[group] = number
        self.groups = _grown(self.groups, self.group_count)
        pattern = NOTHING
        if group.pattern:
            pattern = self._patterns_used
            self._patterns_used += len(group.pattern)
            self.patterns = _grown(self.patterns, self._patterns_used)
            self.patterns[pattern : self._patterns_used] = np.frombuffer(group.pattern, np.uint8)
        self.groups[number] = (
            *(group.event, group.needs, group.aged, group.kind, group.flips, group.size),
            *(NOTHING, 0, pattern, NOTHING),
        )
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
        slot = layout.slot_of(event, needs, len(self.directory))
        while self.directory[slot] != NOTHING:
            other = self.groups[self.directory[slot]]
            if other[EVENT] == event and other[NEEDS] == needs:
                break
            slot = (slot + 1) & (len(self.directory) - 1)
        self.groups[number, NEXT] = self.directory[slot]
        self.directory[slot] = number


def _grown(array: npt.NDArray[T], wanted: int) -> npt.NDArray[T]:
    """Return the array, or a copy with an eighth of spare room, so that it has at least `wanted` entries."""
    if wanted <= len(array):
        return array
    room = wanted + max(wanted // 8, 16)
    grown = np.zeros((-(-room // 8) * 8, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
