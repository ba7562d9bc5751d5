"""The search of rows in blocks and of large groups of minima in bitsets, one notification after the other.

These are plain functions that `plugins.kernels.compiled` turns into machine code.
"""

import numpy as np

from plugins.kernels.boxes.bitset_search import bounds, send_for, survivors
from plugins.kernels.boxes.bitsets import BLOCK, SUPER, WORDS, BlockArrays
from plugins.kernels.lanes import fetch, lowest_bit
from plugins.kernels.rows.layout import (
    COUNT,
    EVENT,
    NEEDS,
    RECORDS,
    ROWS,
    SIZE,
    BitsetRuns,
    Bytes,
    Keys,
    Notifications,
    Numbers,
    RowArrays,
    SearchRoom,
    record_words,
)
from plugins.kernels.rows.runs import AT_ONCE
from plugins.kernels.rows.scan import scan


def degree_at(records: Keys, record: int, size: int, points: Bytes) -> int:
    """Return the degree of a row of minima: what its largest loss leaves."""
    worst = 0
    for rank in range(size):
        packed = int(records[record + 1 + rank])
        x = int(points[0, rank])
        distance = max(max((packed & 255) - x, x - (packed >> 8 & 255)), 0)
        worst = max(worst, min((distance * (packed >> 16) + 128) >> 8, 255))
    return 255 - worst


def in_bits(
    arrays: BlockArrays, used: int, size: int, points: Bytes, store: RowArrays, room: SearchRoom, found: int
) -> int:
    """Write keys and degrees of the rows of one run whose cuts hold the point; return where they end, -1
    if the room is too small. Memory is prefetched before it is read.
    """
    records, blocks, keys, degrees = store.records, store.blocks, room.keys, room.degrees
    words = np.zeros(WORDS, np.uint64)
    inside, places = np.zeros(SUPER, np.int64), np.empty(BLOCK, np.int64)
    begin = found
    cells = np.zeros((1, size), np.int64)
    for rank in range(size):
        cells[0, rank] = points[0, rank] >> 3
    point = points[:, :size]
    present = np.full(1, ~np.uint64(0), np.uint64)
    for first in range(0, used, SUPER):
        if not bounds(arrays.super_rects, first >> 4, point, 0, present):
            continue
        chosen = 0
        for block in range(first, min(first + SUPER, used)):
            if bounds(arrays.rects, block, point, 0, present):
                send_for(arrays.bits, block, cells, 0)
                inside[chosen] = block
                chosen += 1
        for i in range(chosen):
            block = inside[i]
            if survivors(arrays.bits, block, cells, 0, words) < 0:
                continue
            if found + BLOCK + AT_ONCE > len(keys):
                return -1
            left = 0
            for w in range(WORDS):
                word = words[w]
                while word:
                    at = (block << 10) + (w << 6) + np.int64(lowest_bit(word))
                    word &= word - np.uint64(1)
                    fetch(arrays.sides, at * 2 * size)
                    places[left] = at
                    left += 1
            for at in places[:left]:
                if bounds(arrays.sides, at, point, 0, present):
                    place = np.int64(arrays.ids[at])
                    record = blocks[place // ROWS, RECORDS] + (place % ROWS) * record_words(size)
                    fetch(records, record << 2)
                    keys[found] = record
                    found += 1
    for at in range(begin, found):
        record = int(keys[at])
        keys[at] = records[record]
        degrees[at] = degree_at(records, record, size, points)
    return found


def scan_both(
    store: RowArrays,
    notifications: Notifications,
    exact: bool,
    room: SearchRoom,
    ends: Numbers,
    tally: Numbers,
    bitsets: BitsetRuns,
) -> int:
    """Do what `scan` does, and search the runs of bitsets too."""
    rows, events, features = notifications.rows, notifications.events, notifications.features
    groups, owners = store.groups, bitsets.owners
    points = np.zeros((1, 64), np.uint8)
    found = 0
    for number in range(len(events)):
        after = number + 1
        end = scan(
            store,
            Notifications(rows[number:after], events[number:after], features[number:after]),
            exact,
            SearchRoom(room.visited, room.scratch, room.numbers, room.keys[found:], room.degrees[found:]),
            ends[number:after],
            tally,
        )
        if end < 0:
            return -1
        found += end
        for run in range(len(bitsets.runs)):
            group = owners[run, 0]
            needs, feature = groups[group, NEEDS], features[number]
            fits = needs == feature if exact else needs & ~feature == 0
            if not fits or groups[group, EVENT] != events[number]:
                continue
            if run == 0 or owners[run - 1, 0] != group:
                tally[0] += 1
                tally[1] += groups[group, COUNT]
            size = groups[group, SIZE]
            for rank in range(size):
                points[0, rank] = rows[number, bitsets.columns[run, rank]]
            found = in_bits(bitsets.runs[run], owners[run, 1], size, points, store, room, found)
            if found < 0:
                return -1
        ends[number] = found
    return found
