"""The search of rows in blocks and of large groups of minima in bitsets, one notification after the other.

A plain function that `plugins.kernels.compiled` turns into machine code; its first arguments are those of
`plugins.kernels.rows.scan.scan`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from plugins.kernels.boxes.bitset_search import bounds, send_for, survivors
from plugins.kernels.boxes.bitsets import BLOCK, SUPER, WORDS, BlockArrays
from plugins.kernels.lanes import fetch, lowest_bit
from plugins.kernels.rows.layout import COUNT, EVENT, NEEDS, RECORDS, ROWS, SIZE, record_words
from plugins.kernels.rows.runs import AT_ONCE
from plugins.kernels.rows.scan import scan

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint32]


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
    arrays: BlockArrays,
    used: int,
    size: int,
    points: Bytes,
    records: Keys,
    blocks: Numbers,
    keys: Keys,
    degrees: Bytes,
    found: int,
) -> int:
    """Write keys and degrees of the rows of one run whose cuts hold the point; return where they end, -1
    where there is no room. What is read next is sent for before it is read.
    """
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
    arena: Bytes,
    words: Keys,
    records: Keys,
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
    tally: Numbers,
    runs: Any,
    owners: Numbers,
    columns: Numbers,
) -> int:
    """Do what `scan` does, and search the runs of bitsets too: owners[i] are group and used blocks of run i,
    columns[i] where in a row the values of its group stand. Runs of one group stand together.
    """
    points = np.zeros((1, 64), np.uint8)
    found = 0
    for number in range(len(events)):
        end = scan(
            arena,
            words,
            records,
            groups,
            count,
            blocks,
            directory,
            patterns,
            rows[number : number + 1],
            events[number : number + 1],
            features[number : number + 1],
            exact,
            visited,
            scratch,
            numbers,
            keys[found:],
            degrees[found:],
            ends[number : number + 1],
            tally,
        )
        if end < 0:
            return -1
        found += end
        for run in range(len(runs)):
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
                points[0, rank] = rows[number, columns[run, rank]]
            found = in_bits(runs[run], owners[run, 1], size, points, records, blocks, keys, degrees, found)
            if found < 0:
                return -1
        ends[number] = found
    return found
