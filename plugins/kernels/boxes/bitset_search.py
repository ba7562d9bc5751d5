"""The search of bitsets, compiled: one point after the other, or block by block for all points.

These are plain functions that `plugins.kernels.compiled` turns into machine code. What they count is named in
`plugins.kernels.boxes.bitsets`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plugins.kernels.boxes.bitsets import (
    BLOCK,
    BLOCKS,
    BLOCKS_INSIDE,
    READ,
    ROWS,
    SUPER,
    SUPERS,
    SUPERS_INSIDE,
    WORDS,
    BlockArrays,
    Ids,
    Numbers,
    Sides,
    Words,
)
from plugins.kernels.lanes import fetch, lowest_bit, meet, ones

NO_ROOM = -1
"""The room for matches is too small; nothing is lost but time."""


class Points(NamedTuple):
    """Points to search for: their values, the attributes that they have, and the rows of bits that contain
    each value.
    """

    sides: Sides
    present: Words
    rows: Numbers


class Start(NamedTuple):
    """Where a search begins: at depth 0 with all super-blocks, at depth 1 with the super-blocks in `places`,
    at depth 2 with the blocks in `places`.
    """

    depth: int
    places: Numbers


def bounds(rects: Sides, number: int, points: Sides, point: int, present: Words) -> bool:
    """Return whether a rectangle contains a point on the attributes that the point has."""
    attributes = points.shape[1]
    for a in range(attributes):
        x = points[point, a]
        is_outside = x < rects[number, a] or x > rects[number, attributes + a]
        if is_outside and (present[point] >> np.uint64(a)) & np.uint64(1):
            return False
    return True


def survivors(bits: Words, block: int, rows: Numbers, point: int, words: Words) -> int:
    """Write the AND of the rows that a point asks, until nothing is left; return how many were read, negative
    where nothing is.
    """
    attributes = bits.shape[1]
    first = block * attributes * (ROWS * WORDS)
    for w in range(WORDS):
        words[w] = ~np.uint64(0)
    for a in range(attributes):
        if not meet(bits, first + (a * ROWS + rows[point, a]) * WORDS, words):
            return -a - 1
    return int(attributes)


def send_for(bits: Words, block: int, rows: Numbers, point: int) -> None:
    """Send for the rows of a block that a point will ask, without waiting for them: they lie far apart, so
    the processor does not see them coming.
    """
    attributes = bits.shape[1]
    first = block * attributes * (ROWS * WORDS)
    for a in range(attributes):
        at = (first + (a * ROWS + rows[point, a]) * WORDS) << 3
        fetch(bits, at)
        fetch(bits, at + 64)


def exact(
    arrays: BlockArrays,
    block: int,
    words: Words,
    points: Sides,
    point: int,
    present: Words,
    ids: Ids,
    found: int,
) -> int:
    """Write the boxes among the survivors that contain the point; return where they end."""
    sides = arrays.sides
    for w in range(WORDS):
        word = words[w]
        while word:
            at = (block << 10) + (w << 6) + int(np.int64(lowest_bit(word)))
            word &= word - np.uint64(1)
            if bounds(sides, at, points, point, present):
                ids[found] = arrays.ids[at]
                found += 1
    return found


def in_blocks(
    arrays: BlockArrays,
    inside: Numbers,
    points: Points,
    point: int,
    words: Words,
    ids: Ids,
    found: int,
    counts: Numbers,
) -> int:
    """Write the boxes that contain a point in some blocks, whose rectangles contain it; return where they
    end, or `NO_ROOM`.
    """
    for i in range(len(inside)):
        send_for(arrays.bits, inside[i], points.rows, point)
    for i in range(len(inside)):
        read = survivors(arrays.bits, inside[i], points.rows, point, words)
        counts[READ] += abs(read)
        if read > 0:
            if found + BLOCK > len(ids):
                return NO_ROOM
            for w in range(WORDS):
                counts[READ] += ones(words[w])
            found = exact(arrays, inside[i], words, points.sides, point, points.present, ids, found)
    return found


def in_super(
    arrays: BlockArrays,
    blocks: int,
    number: int,
    inside: Numbers,
    points: Sides,
    point: int,
    present: Words,
    counts: Numbers,
) -> int:
    """Write which blocks of a super-block contain a point; return how many."""
    chosen = 0
    for block in range(number * SUPER, min((number + 1) * SUPER, blocks)):
        counts[BLOCKS] += 1
        if bounds(arrays.rects, block, points, point, present):
            inside[chosen] = block
            chosen += 1
    counts[BLOCKS_INSIDE] += chosen
    return chosen


def search_from(
    arrays: BlockArrays,
    blocks: int,
    start: Start,
    points: Points,
    point: int,
    ids: Ids,
    found: int,
    counts: Numbers,
) -> int:
    """Write the boxes of the first blocks that contain one point; return where they end, or `NO_ROOM`.
    `counts` grow by what was tested.
    """
    depth, starts = start.depth, start.places
    words = np.zeros(WORDS, np.uint64)
    inside = np.zeros(SUPER, np.int64)
    if depth == 2:
        for first in range(0, len(starts), SUPER):
            some = starts[first : first + SUPER]
            found = in_blocks(arrays, some, points, point, words, ids, found, counts)
            if found < 0:
                return NO_ROOM
        return found
    for i in range(len(starts) if depth else -(-blocks // SUPER)):
        number = starts[i] if depth else i
        if depth == 0:
            counts[SUPERS] += 1
            if not bounds(arrays.super_rects, number, points.sides, point, points.present):
                continue
            counts[SUPERS_INSIDE] += 1
        chosen = in_super(arrays, blocks, number, inside, points.sides, point, points.present, counts)
        found = in_blocks(arrays, inside[:chosen], points, point, words, ids, found, counts)
        if found < 0:
            return NO_ROOM
    return found


def search(arrays: BlockArrays, blocks: int, points: Points, ids: Ids, ends: Numbers, counts: Numbers) -> int:
    """Write the boxes of the first blocks that contain each point, one point behind the other; ends[i] is
    where those of point i end, and counts[i] grow by what was tested. Returns where the last end, or
    `NO_ROOM`.
    """
    found, everywhere = 0, Start(0, np.zeros(0, np.int64))
    for point in range(len(points.sides)):
        found = search_from(arrays, blocks, everywhere, points, point, ids, found, counts[point])
        if found < 0:
            return NO_ROOM
        ends[point] = found
    return found


def surviving(
    arrays: BlockArrays,
    blocks: int,
    depth: int,
    points: Sides,
    present: Words,
    table: Numbers,
    made: int,
    counts: Numbers,
) -> int:
    """Write (point, place) pairs into the table: the super-blocks (depth 1) or blocks (depth 2) whose
    rectangles contain each point. Returns where they end, or `NO_ROOM`.
    """
    inside = np.zeros(SUPER, np.int64)
    for point in range(len(points)):
        for number in range(-(-blocks // SUPER)):
            counts[point, SUPERS] += 1
            if not bounds(arrays.super_rects, number, points, point, present):
                continue
            counts[point, SUPERS_INSIDE] += 1
            chosen = 1
            inside[0] = number
            if depth == 2:
                chosen = in_super(arrays, blocks, number, inside, points, point, present, counts[point])
            if made + chosen > len(table):
                return NO_ROOM
            for i in range(chosen):
                table[made, 0], table[made, 1] = point, inside[i]
                made += 1
    return made


def search_together(
    arrays: BlockArrays,
    blocks: int,
    points: Sides,
    present: Words,
    rows: Numbers,
    inside: npt.NDArray[np.int32],
    ids: Ids,
    owners: npt.NDArray[np.int32],
) -> int:
    """Write pairs (point, box) block by block. A block is tested with all points in its super-block, so that
    it is read from memory once. Returns how many, or `NO_ROOM`.
    """
    words = np.zeros(WORDS, np.uint64)
    found = 0
    for first in range(0, blocks, SUPER):
        count = 0
        for point in range(len(points)):
            if bounds(arrays.super_rects, first >> 4, points, point, present):
                inside[count] = point
                count += 1
        for block in range(first, min(first + SUPER, blocks)):
            for i in range(count):
                point = inside[i]
                if not bounds(arrays.rects, block, points, point, present):
                    continue
                if survivors(arrays.bits, block, rows, point, words) > 0:
                    if found + BLOCK > len(ids):
                        return NO_ROOM
                    end = exact(arrays, block, words, points, point, present, ids, found)
                    for at in range(found, end):
                        owners[at] = point
                    found = end
    return found
