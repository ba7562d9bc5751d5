"""A store of subscriptions as columns: groups of rows in blocks, found by key
(docs/decisions/0003-matching.md).

Which rows there are is kept by `plugins.kernels.rows.grouped_blocks`, what stands in them here. What is
searched for a notification is `plugins.kernels.rows.scan` (compiled) or `plugins.kernels.rows.numpy_scan`,
on the same arrays.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from plugins.kernels.rows import layout
from plugins.kernels.rows.grouped_blocks import Bytes, Form, GroupedBlocks, Numbers
from plugins.kernels.rows.layout import (
    AT,
    EMPTY,
    FLIPS,
    KIND,
    MINIMUM,
    NOTHING,
    OWNER,
    RECORDS,
    ROWS,
    SIZE,
    WEIGHTED,
)
from plugins.kernels.rows.places import enter, fill

OTHER = 1
"""Any kind but those whose blocks are of a form of their own."""

_SPARE = 8
"""Arenas grow by an eighth."""


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


class RowStore(GroupedBlocks):
    """Rows (key, floor, constraints, weights) in groups; every key stands in it once at most."""

    records: npt.NDArray[np.uint32]

    def __init__(self) -> None:
        super().__init__(np.uint32, _SPARE)
        self.patterns: Numbers = np.zeros(0, np.int64)
        self._patterns_used = 0
        self.changes = 0
        """Grows with every change, so that whoever keeps something beside the rows knows when to look."""
        self.watched: dict[int, dict[int, bool]] = {}
        """For watched groups, the places that were touched, and whether they hold a row now."""

    @property
    def held_bytes(self) -> int:
        """Return the bytes of all arrays, including spare room."""
        return super().held_bytes + self.patterns.nbytes

    def put(
        self,
        group: Group,
        key: int,
        floor: int,
        triples: Bytes,
        slopes: npt.NDArray[np.uint16],
        weights: bytes = b"",
    ) -> None:
        """Add a new row: `triples` are (v, V) by rank, `slopes` 256·γ by rank."""
        number = self._number(group)
        block, slot = self._take(number)
        if group.kind == MINIMUM:
            self._write_minimum(group, block, slot, key, floor, triples.tolist(), slopes.tolist())
        else:
            keys, floors = np.array([key], np.uint32), np.array([floor], np.uint8)
            place = np.array([block * ROWS + slot])
            self._write(number, place, keys, floors, triples[None], slopes[None])
            at = int(self.blocks[block, AT]) + layout.weights_at(group.size, 0) + slot
            for rank, weight in enumerate(weights):
                self.arena[at + ROWS * rank] = weight
        self._places.reserve(self.count + 1)
        enter(self._places.table, key, block * ROWS + slot)
        self.count += 1
        self._touch(number, block * ROWS + slot, True)

    def put_all(
        self,
        group: Group,
        keys: npt.NDArray[np.uint32],
        floors: Bytes,
        triples: Bytes,
        slopes: npt.NDArray[np.uint16],
    ) -> None:
        """Add many rows of one group without weights that are not held yet: triples[row, rank] is (v, V)."""
        number = self._number(group)
        places = self._take_many(number, len(keys))
        self._write(number, places, keys, floors, triples, slopes)
        fill(self._places.table, keys, places)
        self.changes += 1
        if number in self.watched:
            self.watched[number].update(dict.fromkeys(places.tolist(), True))

    def remove(self, key: int) -> bool:
        """Remove the row of this key; return whether there was one."""
        removed = self._remove(key)
        if removed is None:
            return False
        number, place, emptied = removed
        if place != emptied:
            self._touch(number, place, True)
        self._touch(number, emptied, False)
        if self.groups[number, KIND] != MINIMUM:
            floors = layout.floors_at(int(self.groups[number, SIZE]))
            self.arena[int(self.blocks[emptied // ROWS, AT]) + floors + emptied % ROWS] = EMPTY
        return True

    def key_at(self, place: int) -> int:
        """Return the key of the row at this place."""
        block, slot = divmod(place, ROWS)
        number = self.blocks[block, OWNER]
        size = int(self.groups[number, SIZE])
        if self.groups[number, KIND] == MINIMUM:
            return int(self.records[int(self.blocks[block, RECORDS]) + slot * layout.record_words(size)])
        return int(self._words[(int(self.blocks[block, AT]) + layout.keys_at(size) >> 2) + slot])

    def keys_at(self, places: Numbers) -> npt.NDArray[np.uint32]:
        """Return the keys of the rows at these places."""
        blocks, slots = self.blocks[places // ROWS], places % ROWS
        sizes = self.groups[blocks[:, OWNER], SIZE]
        minima = self.groups[blocks[:, OWNER], KIND] == MINIMUM
        keys = np.empty(len(places), np.uint32)
        at = blocks[:, RECORDS] + slots * layout.record_words(sizes)
        keys[minima] = self.records[at[minima]]
        at = (blocks[:, AT] + layout.keys_at(sizes) >> 2) + slots
        keys[~minima] = self._words[at[~minima]]
        return keys

    def change_floor(self, key: int, floor: int) -> None:
        """Set the floor of a row that is held."""
        place = self._places.find(key)
        block, slot = place // ROWS, place % ROWS
        number, at = int(self.blocks[block, OWNER]), int(self.blocks[block, AT])
        size = int(self.groups[number, SIZE])
        self._touch(number, place, True)
        if self.groups[number, KIND] == MINIMUM:
            record = int(self.blocks[block, RECORDS]) + slot * layout.record_words(size)
            for rank in range(size):
                constraint = self.records[record + 1 + rank : record + 2 + rank]
                start, floors = np.array([at + slot]), np.array([floor], np.uint8)
                self._write_cuts(number, start, rank, floors, constraint)
        else:
            self.arena[at + layout.floors_at(size) + slot] = floor

    def cuts_at(self, number: int, places: Numbers) -> Bytes:
        """Return the cuts of rows of a group of minima that complements nothing: first values, then last."""
        size = int(self.groups[number, SIZE])
        starts = self.blocks[places // ROWS, AT] + places % ROWS
        cuts = np.empty((len(places), 2 * size), np.uint8)
        for rank in range(size):
            first = self.arena[starts + layout.cuts_at(rank)]
            cuts[:, rank] = first
            cuts[:, size + rank] = first + self.arena[starts + layout.cuts_at(rank) + ROWS]
        return cuts

    def _touch(self, number: int, place: int, is_row: bool) -> None:
        """Note a change for watchers."""
        self.changes += 1
        if number in self.watched:
            self.watched[number][place] = is_row

    @property
    def _shorts(self) -> npt.NDArray[np.uint16]:
        return self.arena.view(np.uint16)

    @property
    def _words(self) -> npt.NDArray[np.uint32]:
        return self.arena.view(np.uint32)

    def _write(
        self,
        number: int,
        places: Numbers,
        keys: npt.NDArray[np.uint32],
        floors: Bytes,
        triples: Bytes,
        slopes: npt.NDArray[np.uint16],
    ) -> None:
        """Write rows of one group, each at its place."""
        size = int(self.groups[number, SIZE])
        blocks, slots = places // ROWS, places % ROWS
        starts = self.blocks[blocks, AT]
        if self.groups[number, KIND] == MINIMUM:
            records = self.blocks[blocks, RECORDS] + slots * layout.record_words(size)
            self.records[records] = keys
            wide = triples.astype(np.uint32)
            for rank in range(size):
                packed = wide[:, rank, 0] | wide[:, rank, 1] << 8 | slopes[:, rank].astype(np.uint32) << 16
                self.records[records + 1 + rank] = packed
                self._write_cuts(number, starts + slots, rank, floors, packed.astype(np.uint32))
            return
        for rank in range(size):
            self.arena[starts + layout.lows_at(size, rank) + slots] = triples[:, rank, 0]
            self.arena[starts + layout.highs_at(size, rank) + slots] = triples[:, rank, 1]
            self._shorts[(starts + layout.slopes_at(rank) >> 1) + slots] = slopes[:, rank]
        self._words[(starts + layout.keys_at(size) >> 2) + slots] = keys
        self.arena[starts + layout.floors_at(size) + slots] = floors

    def _write_minimum(
        self,
        group: Group,
        block: int,
        slot: int,
        key: int,
        floor: int,
        cores: list[list[int]],
        slopes: list[int],
    ) -> None:
        """Write one row of minima: what `_write` does, number by number, which is quicker for one."""
        begin = int(self.blocks[block, RECORDS]) + slot * layout.record_words(group.size)
        at = int(self.blocks[block, AT]) + slot
        self.records[begin] = key
        for rank, ((v, V), slope) in enumerate(zip(cores, slopes, strict=True)):
            self.records[begin + 1 + rank] = v | V << 8 | slope << 16
            reach = _reach(floor if group.flips >> rank & 1 else 254 - floor, slope)
            first = max(v - reach, 0)
            self.arena[at + layout.cuts_at(rank)] = first
            self.arena[at + layout.cuts_at(rank) + ROWS] = min(V + reach, 255) - first

    def _write_cuts(
        self,
        number: int,
        starts: Numbers,
        rank: int,
        floors: Bytes,
        constraints: npt.NDArray[np.uint32],
    ) -> None:
        """Write the values at which one constraint of rows of minima is above their floors.

        A row's cuts begin at its start. A complemented constraint keeps the values that are *not* above the
        floor.
        """
        packed, below = constraints.astype(np.int64), floors.astype(np.int64)
        flipped = int(self.groups[number, FLIPS]) >> rank & 1
        reach = _reach(below if flipped else 254 - below, packed >> 16)
        first = np.maximum((packed & 255) - reach, 0)
        self.arena[starts + layout.cuts_at(rank)] = first
        self.arena[starts + layout.cuts_at(rank) + ROWS] = (
            np.minimum((packed >> 8 & 255) + reach, 255) - first
        )

    def _move(self, number: int, source: tuple[int, int], target: tuple[int, int]) -> int:
        """Copy a row over another one of its group; return its key."""
        size = int(self.groups[number, SIZE])
        origin, goal = int(self.blocks[source[0], AT]), int(self.blocks[target[0], AT])
        if self.groups[number, KIND] == MINIMUM:
            length = layout.record_words(size)
            begin = int(self.blocks[source[0], RECORDS]) + source[1] * length
            into = int(self.blocks[target[0], RECORDS]) + target[1] * length
            record = self.records[begin : begin + length]
            self.records[into : into + length] = record
            for line in range(2 * size):
                self.arena[goal + ROWS * line + target[1]] = self.arena[origin + ROWS * line + source[1]]
            return int(record[0])
        for line in range(2 * size + 4, layout.block_bytes(*self._form(number)) // ROWS):
            self.arena[goal + ROWS * line + target[1]] = self.arena[origin + ROWS * line + source[1]]
        for rank in range(size):
            shorts, at = self._shorts, layout.slopes_at(rank) >> 1
            shorts[(goal >> 1) + at + target[1]] = shorts[(origin >> 1) + at + source[1]]
        words, at = self._words, layout.keys_at(size) >> 2
        key = int(words[(origin >> 2) + at + source[1]])
        words[(goal >> 2) + at + target[1]] = key
        return key

    def _form(self, number: int) -> Form:
        """Return size and kind of a group's blocks."""
        kind = int(self.groups[number, KIND])
        return int(self.groups[number, SIZE]), kind if kind in (MINIMUM, WEIGHTED) else OTHER

    def _lengths(self, form: Form) -> tuple[int, int]:
        """Return the bytes of a block and the words of a record, which minima have."""
        size, kind = form
        return layout.block_bytes(size, kind), layout.record_words(size) if kind == MINIMUM else 0

    def _new_block(self, form: Form) -> int:
        """Return a block of this form in which no row matches."""
        block = super()._new_block(form)
        size, kind = form
        if kind != MINIMUM:
            floors = int(self.blocks[block, AT]) + layout.floors_at(size)
            self.arena[floors : floors + ROWS] = EMPTY
        return block

    def _number(self, group: Group) -> int:
        """Return a group's number; a new one is entered into the directory."""
        if group in self._numbers:
            return self._numbers[group]
        pattern = NOTHING
        if group.pattern:
            pattern = self._patterns_used
            self._patterns_used += len(group.pattern)
            self.patterns = self._grown(self.patterns, self._patterns_used)
            self.patterns[pattern : self._patterns_used] = np.frombuffer(group.pattern, np.uint8)
        shared = (group.event, group.needs, group.aged, group.kind, group.flips, group.size)
        return self._new_group(group, (*shared, NOTHING, 0, pattern, NOTHING, 0))


Whole = TypeVar("Whole", int, Numbers)


def _reach(loss: Whole, slope: Whole) -> Whole:
    """Return the largest distance d at which the loss, (d·S + 128) >> 8, is not above this one."""
    return (256 * loss + 127) // slope
