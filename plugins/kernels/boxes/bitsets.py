"""Boxes as bits: which of 1,024 boxes contain a point is the AND of one row of bits for each attribute.

A *block* is 1,024 boxes; sixteen blocks are a *super-block*; both have bounding rectangles. For every
attribute a block has `CELLS` rows of 1,024 bits, one for each thirty-second of its values: a box sets its bit
in every row that it touches. One row more, `ABSENT`, has the boxes that do not constrain the attribute; it
stands in for points that lack it. What is left of the AND is tested exactly, side by side.

The sides of box i are sides[i, a] (low) and sides[i, k + a] (high), ends included, in bytes or in 16-bit
cells. A *tombstone* has its first low above its first high, and no bit in any row of its first attribute.

`mark` and `bury` are plain functions that `plugins.kernels.compiled` turns into machine code; the search is
`plugins.kernels.boxes.bitset_search`, and on machines without a compiler `contained` below.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

BLOCK: Final = 1024
"""Boxes of a block: this is sixteen words, two lines of memory."""
WORDS: Final = 16
SUPER: Final = 16
"""Blocks of a super-block."""
CELLS: Final = 32
ABSENT: Final = 32
"""The row of an attribute that has the boxes which leave it free."""
ROWS: Final = 33
ALL: Final = 0xFFFFFFFFFFFFFFFF

SUPERS, SUPERS_INSIDE, BLOCKS, BLOCKS_INSIDE, READ, COVERED = range(6)
"""Counts of a search: rectangles of super-blocks and blocks tested, and those of them that contain the point;
rows of bits read and boxes tested; rows of coverage read for an estimate.
"""
COUNTS: Final = 6
_WORK: Final = (SUPERS, BLOCKS, READ, COVERED)
"""Those that are units of work: a point against a rectangle, or one row of bits of one block."""

Sides = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]


class BlockArrays(NamedTuple):
    """The arrays of some blocks. `needs` has a bit for each attribute that a box constrains."""

    sides: Sides
    needs: Words
    ids: Ids
    bits: Words
    rects: Sides
    super_rects: Sides


def empty_blocks(blocks: int, attributes: int, cell: "npt.DTypeLike") -> BlockArrays:
    """Return this many blocks that hold nothing; what bounds nothing contains nothing."""
    supers = -(-blocks // SUPER)
    return BlockArrays(
        np.zeros((blocks * BLOCK, 2 * attributes), cell),
        np.zeros(blocks * BLOCK, np.uint64),
        np.zeros(blocks * BLOCK, np.uint32),
        np.zeros((blocks, attributes, ROWS, WORDS), np.uint64),
        _nothing(blocks, attributes, cell),
        _nothing(supers, attributes, cell),
    )


def _nothing(count: int, attributes: int, cell: "npt.DTypeLike") -> Sides:
    rects = np.zeros((count, 2 * attributes), cell)
    rects[:, :attributes] = np.iinfo(rects.dtype).max
    return rects


def units_of(counts: Numbers) -> Numbers:
    """Return the work of each row of counts."""
    total: Numbers = counts[..., _WORK].sum(axis=-1)
    return total


def cells_of(points: Sides, present: Words) -> npt.NDArray[np.int64]:
    """Return for each point the row of each attribute that it asks."""
    shift = 3 if points.dtype == np.uint8 else 11
    rows = (points >> shift).astype(np.int64)
    lacking = (present[:, None] >> np.arange(points.shape[1], dtype=np.uint64)) & np.uint64(1) == 0
    rows[lacking] = ABSENT
    return rows


def mark(arrays: BlockArrays, begin: int, end: int, shift: int) -> None:
    """Set the bits of the boxes at [begin, end), whose sides and needs are written, and widen rectangles;
    tombstones have none.
    """
    sides, bits, rects, supers = arrays.sides, arrays.bits, arrays.rects, arrays.super_rects
    attributes = sides.shape[1] // 2
    for at in range(begin, end):
        if sides[at, 0] > sides[at, attributes]:
            continue
        block, word = at >> 10, (at & 1023) >> 6
        bit = np.uint64(1) << np.uint64(at & 63)
        for a in range(attributes):
            low, high = sides[at, a], sides[at, attributes + a]
            for row in range(low >> shift, (high >> shift) + 1):
                bits[block, a, row, word] |= bit
            if (arrays.needs[at] >> np.uint64(a)) & np.uint64(1) == 0:
                bits[block, a, ABSENT, word] |= bit
            rects[block, a] = min(rects[block, a], low)
            rects[block, attributes + a] = max(rects[block, attributes + a], high)
            supers[block >> 4, a] = min(supers[block >> 4, a], low)
            supers[block >> 4, attributes + a] = max(supers[block >> 4, attributes + a], high)


def bury(arrays: BlockArrays, places: Numbers, most: int) -> int:
    """Make tombstones of the boxes at these places; return how many were none before."""
    attributes = arrays.sides.shape[1] // 2
    fresh = 0
    for i in range(len(places)):
        at = places[i]
        if arrays.sides[at, 0] > arrays.sides[at, attributes]:
            continue
        fresh += 1
        arrays.sides[at, 0] = most
        arrays.sides[at, attributes] = 0
        keep = ~(np.uint64(1) << np.uint64(at & 63))
        for row in range(ROWS):
            arrays.bits[at >> 10, 0, row, (at & 1023) >> 6] &= keep
    return fresh


def contained(arrays: BlockArrays, blocks: int, point: Sides, present: int) -> Ids:
    """Return the ids of the boxes in the first blocks that contain a point: the search in NumPy."""
    attributes = len(point)
    has = np.array([present >> a & 1 for a in range(attributes)], np.bool_)
    chosen = np.flatnonzero(_bounding(arrays.rects[:blocks], point, has))
    if not len(chosen):
        return np.zeros(0, np.uint32)
    rows = cells_of(point[None], np.array([present], np.uint64))[0]
    left = np.bitwise_and.reduce(arrays.bits[chosen[:, None], np.arange(attributes), rows], axis=1)
    marked = np.unpackbits(left.view(np.uint8), axis=1, bitorder="little")
    of_block, slot = np.nonzero(marked)
    places = chosen[of_block] * BLOCK + slot
    found: Ids = arrays.ids[places[_bounding(arrays.sides[places], point, has)]]
    return found


def _bounding(rects: Sides, point: Sides, has: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which rectangles contain a point on the attributes that it has."""
    attributes = len(point)
    lows, highs = rects[:, :attributes], rects[:, attributes:]
    inside: npt.NDArray[np.bool_] = np.all(((lows <= point) & (point <= highs)) | ~has, axis=1)
    return inside
