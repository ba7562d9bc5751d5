"""The search for one notification, compiled: which rows of which groups reach their floors, and how well?"""

import numpy as np
import numpy.typing as npt
from numba import njit

from plugins.kernels import combine, layout
from plugins.kernels.compiled import compiled
from plugins.kernels.lanes import above, lowest_bit, worsen
from plugins.kernels.layout import (
    AT,
    COUNT,
    EVENT,
    FLIPS,
    KIND,
    NEEDS,
    NEXT,
    NOTHING,
    PATTERN,
    PREVIOUS,
    ROWS,
    SIZE,
    TAIL,
)

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint32]

combined = compiled(combine.combined)
slot_of = compiled(layout.slot_of)
keys_at = compiled(layout.keys_at)
lows_at = compiled(layout.lows_at)
highs_at = compiled(layout.highs_at)
floors_at = compiled(layout.floors_at)
weights_at = compiled(layout.weights_at)

TOGETHER = 32
"""Blocks whose degrees are computed before any of them is collected."""

SCRATCH_BYTES = 64 * 65
"""Working room for the losses of a block by constraint, and for the places of a group's attributes."""

SCRATCH_NUMBERS = 3 * 64
"""Working room for the degrees and the weights of a row, as numbers whose arithmetic is that of Python."""


@njit(cache=True)
def _first_group(groups: Numbers, directory: npt.NDArray[np.int32], event: int, needs: int) -> int:
    slot = slot_of(event, needs, len(directory))
    while directory[slot] != NOTHING:
        group = directory[slot]
        if groups[group, EVENT] == event and groups[group, NEEDS] == needs:
            return int(group)
        slot = (slot + 1) & (len(directory) - 1)
    return NOTHING


@njit(cache=True)
def _candidates(
    groups: Numbers,
    count: int,
    directory: npt.NDArray[np.int32],
    event: int,
    feature: int,
    exact: bool,
    out: npt.NDArray[np.int32],
) -> int:
    """Write the numbers of the groups that the feature condition admits; return how many."""
    found = 0
    bits = 0
    rest = feature
    while rest:
        rest &= rest - 1
        bits += 1
    if exact:
        group = _first_group(groups, directory, event, feature)
        while group != NOTHING:
            out[found] = group
            found += 1
            group = groups[group, NEXT]
    elif bits < 20 and 1 << bits <= count:
        needs = feature
        while True:
            group = _first_group(groups, directory, event, needs)
            while group != NOTHING:
                out[found] = group
                found += 1
                group = groups[group, NEXT]
            if needs == 0:
                break
            needs = (needs - 1) & feature
    else:
        for group in range(count):
            if groups[group, EVENT] == event and groups[group, NEEDS] & ~feature == 0:
                out[found] = group
                found += 1
    return found


@njit(cache=True)
def _smallest(
    arena: Bytes,
    words: Keys,
    blocks: Numbers,
    group: Numbers,
    places: Bytes,
    row: Bytes,
    scratch: Bytes,
    numbers: Numbers,
    keys: Keys,
    degrees: Bytes,
    found: int,
) -> int:
    """Search a group that aggregates by minimum: its degree is what the largest loss leaves.

    Degrees of some blocks are computed first and collected afterwards, so that the branches of collecting
    do not hold up the reading.
    """
    size, flips, block = group[SIZE], group[FLIPS], group[TAIL]
    to_lows, to_highs = lows_at(size, 0), highs_at(size, 0)
    to_floors, to_keys = floors_at(size), keys_at(size)
    while block != NOTHING:
        filled = 0
        while block != NOTHING and filled < TOGETHER:
            at = blocks[block, AT]
            into = ROWS * filled
            for lane in range(ROWS):
                scratch[into + lane] = 0
            for rank in range(size):
                flip = 255 if flips >> rank & 1 else 0
                x = np.int64(row[places[rank]])
                step = ROWS * rank
                worsen(
                    arena, at + 2 * step, at + to_lows + step, at + to_highs + step, x, flip, scratch, into
                )
            numbers[filled] = np.int64(above(scratch, into, arena, at + to_floors))
            numbers[TOGETHER + filled] = at + to_keys >> 2
            filled += 1
            block = blocks[block, PREVIOUS]
        for done in range(filled):
            mask = np.uint64(numbers[done])
            start = np.uint64(numbers[TOGETHER + done])
            from_degree = np.uint64(ROWS * done)
            while mask:
                lane = lowest_bit(mask)
                keys[np.uint64(found)] = words[start + lane]
                degrees[np.uint64(found)] = scratch[from_degree + lane]
                found += 1
                mask &= mask - np.uint64(1)
    return found


@njit(cache=True)
def _any_kind(
    arena: Bytes,
    words: Keys,
    blocks: Numbers,
    patterns: Numbers,
    group: Numbers,
    places: Bytes,
    row: Bytes,
    scratch: Bytes,
    numbers: Numbers,
    keys: Keys,
    degrees: Bytes,
    found: int,
) -> int:
    """Search a group of any aggregator: losses by columns, then row by row with the code of the boards."""
    size, flips, kind, block = group[SIZE], group[FLIPS], group[KIND], group[TAIL]
    weighted = kind == layout.WEIGHTED
    of_row, weights = numbers[: 2 * size], numbers[2 * size : 3 * size]
    left = (group[COUNT] - 1) % ROWS + 1
    while block != NOTHING:
        at = blocks[block, AT]
        for lane in range(ROWS * size):
            scratch[lane] = 0
        for rank in range(size):
            flip = 255 if flips >> rank & 1 else 0
            x = np.int64(row[places[rank]])
            worsen(
                arena,
                at + 128 * rank,
                at + lows_at(size, rank),
                at + highs_at(size, rank),
                x,
                flip,
                scratch,
                ROWS * rank,
            )
        start = at + keys_at(size) >> 2
        for lane in range(left):
            floor = np.int64(arena[at + floors_at(size) + lane])
            least, most = 255, 0
            for rank in range(size):
                degree = 255 - int(scratch[ROWS * rank + lane])
                of_row[rank] = degree
                least, most = min(least, degree), max(most, degree)
            if kind <= layout.WEIGHTED and (most <= floor or (kind == 2 and least <= floor)):
                continue  # no mean exceeds the largest degree, no product the smallest
            if weighted:
                for rank in range(size):
                    weights[rank] = arena[at + weights_at(size, rank) + lane]
            degree = combined(kind, patterns, group[PATTERN], weights, of_row, size)
            if degree > floor:
                keys[found] = words[start + lane]
                degrees[found] = degree
                found += 1
        left = ROWS
        block = blocks[block, PREVIOUS]
    return found


@njit(cache=True)
def scan(
    arena: Bytes,
    words: Keys,
    groups: Numbers,
    count: int,
    blocks: Numbers,
    directory: npt.NDArray[np.int32],
    patterns: Numbers,
    row: Bytes,
    event: int,
    feature: int,
    exact: bool,
    visited: npt.NDArray[np.int32],
    scratch: Bytes,
    numbers: Numbers,
    keys: Keys,
    degrees: Bytes,
    begin: int,
) -> int:
    """Write keys and degrees of all that match from `begin` on; return where they end.

    If they might not fit, nothing is written and -1 minus the room needed is returned. `row` has one byte
    for each attribute index, the age last; `feature` leaves the age out.
    """
    candidates = _candidates(groups, count, directory, event, feature, exact, visited)
    needed = begin
    for i in range(candidates):
        needed += groups[visited[i], COUNT]
    if needed > len(keys):
        return -1 - needed
    found = begin
    places = scratch[len(scratch) - 64 :]
    for i in range(candidates):
        group = groups[visited[i]]
        if group[TAIL] == NOTHING:
            continue
        rank = 0
        rest = np.uint64(group[NEEDS])
        while rest:
            places[rank] = lowest_bit(rest)
            rank += 1
            rest &= rest - np.uint64(1)
        if rank < group[SIZE]:
            places[rank] = len(row) - 1
        if group[KIND] == 0:
            found = _smallest(
                arena, words, blocks, group, places, row, scratch, numbers, keys, degrees, found
            )
        else:
            found = _any_kind(
                arena, words, blocks, patterns, group, places, row, scratch, numbers, keys, degrees, found
            )
    return found


@njit(cache=True)
def scan_all(
    arena: Bytes,
    words: Keys,
    groups: Numbers,
    count: int,
    blocks: Numbers,
    directory: npt.NDArray[np.int32],
    patterns: Numbers,
    rows: Bytes,
    events: Bytes,
    features: Numbers,
    exact: bool,
    visited: npt.NDArray[np.int32],
    scratch: Bytes,
    numbers: Numbers,
    keys: Keys,
    degrees: Bytes,
    ends: Numbers,
) -> int:
    """Do the same for many notifications, one behind the other; ends[i] is where the matches of number i end.

    Returns how many were done: fewer than all when there was no room for the next.
    """
    begin = 0
    for i in range(len(events)):
        begin = scan(
            arena,
            words,
            groups,
            count,
            blocks,
            directory,
            patterns,
            rows[i],
            events[i],
            features[i],
            exact,
            visited,
            scratch,
            numbers,
            keys,
            degrees,
            begin,
        )
        if begin < 0:
            return i
        ends[i] = begin
    return len(events)
