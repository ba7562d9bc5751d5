"""One notification against a run of blocks: which rows reach their floors, and how well?

These are plain functions that `plugins.kernels.compiled` turns into machine code. A run is at most
`TOGETHER` blocks of one group, few enough to stay in the nearest cache while several notifications go
through it.
"""

import numpy as np

from plugins.kernels.lanes import EIGHT, fetch, inside, lose, lowest_bit, ones, settle, worsen
from plugins.kernels.rows.combine import combined
from plugins.kernels.rows.layout import (
    AT,
    COUNT,
    EMPTY,
    FLIPS,
    KIND,
    NEEDS,
    NOTHING,
    PATTERN,
    PREVIOUS,
    RECORDS,
    ROWS,
    SIZE,
    TAIL,
    WEIGHTED,
    Bytes,
    Matches,
    MinimumArrays,
    Numbers,
    OtherArrays,
    cuts_at,
    floors_at,
    highs_at,
    keys_at,
    lows_at,
    record_words,
    weights_at,
)
from watchdog.aggregators import AT_MOST_LARGEST, AT_MOST_SMALLEST

TOGETHER = 64
"""Blocks of a run: some tens of kilobytes with the records, so that it stays in a near cache."""

AT_ONCE = EIGHT
"""Matches that are noted without asking whether there are so many."""

OF_ROW, WEIGHTS, VALUES = 0, 128, 192
"""Where in the scratch numbers stand: degrees and weights of a row, and the values that a group asks for."""

SCRATCH_BYTES, SCRATCH_NUMBERS = ROWS * 64, 256

ROOM = TOGETHER * ROWS + AT_ONCE
"""What a run may write, with what it writes in excess."""


def values_of(groups: Numbers, group: int, rows: Bytes, number: int, numbers: Numbers) -> None:
    """Lay the values that this group asks for side by side, the age last."""
    rank = 0
    rest = np.uint64(groups[group, NEEDS])
    while rest:
        numbers[VALUES + rank] = rows[number, lowest_bit(rest)]
        rank += 1
        rest &= rest - np.uint64(1)
    if rank < groups[group, SIZE]:
        numbers[VALUES + rank] = rows[number, rows.shape[1] - 1]


def behind(block: int, blocks: Numbers) -> int:
    """Return the block behind the run that begins with this one."""
    for _ in range(TOGETHER):
        if block != NOTHING:
            block = blocks[block, PREVIOUS]
    return block


def smallest(store: MinimumArrays, group: int, block: int, stop: int, matches: Matches, found: int) -> int:
    """Search the blocks from `block` to before `stop` of a group that aggregates by minimum.

    Those whose cuts hold all values are noted first, several at once so that no branch depends on how many
    there are, and their records are sent for; then their degrees are computed, what the largest loss leaves.
    """
    arena, records, blocks, groups = store.arena, store.records, store.blocks, store.groups
    numbers, keys, degrees = matches.numbers, matches.keys, matches.degrees
    size, flips = groups[group, SIZE], groups[group, FLIPS]
    length = np.uint64(record_words(size))
    begin = found
    left = np.uint64((groups[group, COUNT] - 1) % ROWS + 1)
    used = ~np.uint64(0)
    if block == groups[group, TAIL]:
        used >>= np.uint64(ROWS) - left
    while block != stop:
        start = blocks[block, AT]
        mask = used
        for rank in range(size):
            column = start + cuts_at(rank)
            chosen = inside(arena, column, column + ROWS, numbers[VALUES + rank])
            mask &= ~chosen if flips >> rank & 1 else chosen
        used = ~np.uint64(0)
        first = np.uint64(blocks[block, RECORDS])
        at = np.uint64(found)
        end = at + ones(mask)
        while at < end:
            for i in range(AT_ONCE):
                record = first + lowest_bit(mask) * length
                fetch(records, np.int64(record) << 2)
                keys[at + np.uint64(i)] = record
                mask &= mask - np.uint64(1)
            at += np.uint64(AT_ONCE)
        found = int(np.int64(end))
        block = blocks[block, PREVIOUS]
    if found == begin:
        return found
    for i in range(AT_ONCE):  # the last eight may be fewer; what is looked up unnecessarily must exist
        keys[found + i] = keys[begin]
    for eight in range(begin, found, AT_ONCE):
        for i in range(AT_ONCE):
            degrees[eight + i] = 0
        for rank in range(size):
            flip = 255 if flips >> rank & 1 else 0
            lose(records, rank, numbers[VALUES + rank], flip, keys, eight, degrees)
        settle(records, keys, eight, degrees)
    return found


def any_kind(store: OtherArrays, group: int, block: int, stop: int, matches: Matches, found: int) -> int:
    """Search a group of any aggregator: losses by columns, then row by row with the code of the boards."""
    arena, words, blocks, groups = store.arena, store.words, store.blocks, store.groups
    scratch, numbers, keys, degrees = store.scratch, matches.numbers, matches.keys, matches.degrees
    size, flips, kind = groups[group, SIZE], groups[group, FLIPS], groups[group, KIND]
    at_most_largest = AT_MOST_LARGEST >> kind & 1 == 1
    at_most_smallest = AT_MOST_SMALLEST >> kind & 1 == 1
    of_row, weights = numbers[OF_ROW : OF_ROW + 2 * size], numbers[WEIGHTS : WEIGHTS + size]
    while block != stop:
        at = blocks[block, AT]
        block = blocks[block, PREVIOUS]
        for lane in range(ROWS * size):
            scratch[lane] = 0
        for rank in range(size):
            flip = 255 if flips >> rank & 1 else 0
            x = numbers[VALUES + rank]
            low, high = at + lows_at(size, rank), at + highs_at(size, rank)
            worsen(arena, at + 128 * rank, low, high, x, flip, scratch, ROWS * rank)
        start = at + keys_at(size) >> 2
        for lane in range(ROWS):
            floor = np.int64(arena[at + floors_at(size) + lane])
            if floor == EMPTY:
                continue
            least, most = 255, 0
            for rank in range(size):
                degree = 255 - int(scratch[ROWS * rank + lane])
                of_row[rank] = degree
                least, most = min(least, degree), max(most, degree)
            if at_most_largest and (most <= floor or (at_most_smallest and least <= floor)):
                continue
            if kind == WEIGHTED:
                for rank in range(size):
                    weights[rank] = arena[at + weights_at(size, rank) + lane]
            degree = combined(kind, store.patterns, groups[group, PATTERN], weights, of_row, size)
            if degree > floor:
                keys[found] = words[start + lane]
                degrees[found] = degree
                found += 1
    return found
