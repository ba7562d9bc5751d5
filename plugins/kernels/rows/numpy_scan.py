"""The same search without Numba: column by column in NumPy, for machines that have no compiler and for few
rows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from plugins.kernels.rows import layout
from plugins.kernels.rows.combine import combined
from plugins.kernels.rows.layout import (
    AT,
    COUNT,
    EVENT,
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
)
from plugins.kernels.rows.rows import RowStore
from watchdog.aggregators import ARITHMETIC_MEAN, MAX, PRODUCT

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Found = tuple[npt.NDArray[np.uint32], Bytes]


def candidates(store: RowStore, event: int, feature: int, exact: bool) -> Numbers:
    """Return the numbers of the groups with rows that the feature condition admits."""
    groups = store.groups[: store.group_count]
    needs = groups[:, NEEDS]
    fits = needs == feature if exact else (needs & ~feature) == 0
    return np.flatnonzero(fits & (groups[:, EVENT] == event) & (groups[:, TAIL] != NOTHING))


def scan(store: RowStore, candidates: Numbers, row: Bytes) -> Found:
    """Return keys and degrees of all in these groups that match. The row has the age at its end."""
    parts = [_of_group(store, store.groups[number], row) for number in candidates]
    if not parts:
        return np.zeros(0, np.uint32), np.zeros(0, np.uint8)
    keys, degrees = zip(*parts, strict=True)
    return np.concatenate(keys), np.concatenate(degrees)


def _chain(store: RowStore, tail: int) -> Iterator[int]:
    while tail != NOTHING:
        yield tail
        tail = int(store.blocks[tail, PREVIOUS])


def _of_group(store: RowStore, group: Numbers, row: Bytes) -> Found:
    size = int(group[SIZE])
    blocks = list(_chain(store, int(group[TAIL])))[::-1]
    places = [index for index in range(63) if group[NEEDS] >> index & 1]
    places += [len(row) - 1] * (size - len(places))
    values = [int(row[place]) for place in places]
    if group[KIND] == layout.MINIMUM:
        return _smallest(store, group, blocks, values)
    starts = store.blocks[blocks, AT][:, None]
    lanes = np.arange(ROWS)
    count = int(group[COUNT])

    def column(offset: int) -> Bytes:
        rows: Bytes = store.arena[starts + offset + lanes].reshape(-1)
        return rows[:count]

    degrees = np.empty((size, count), np.uint8)
    for rank, x in enumerate(values):
        low, high = column(layout.lows_at(size, rank)), column(layout.highs_at(size, rank))
        at = (starts + layout.slopes_at(rank) >> 1) + lanes
        slope = store.arena.view(np.uint16)[at].reshape(-1)[:count]
        degrees[rank] = _degrees(x, low, high, slope, bool(group[FLIPS] >> rank & 1))
    weights = np.zeros((size, 0), np.uint8)
    if group[KIND] == layout.WEIGHTED:
        weights = np.stack([column(layout.weights_at(size, rank)) for rank in range(size)])
    overall = _combined(store, group, degrees, weights)
    chosen = overall > column(layout.floors_at(size))
    keys = store.arena.view(np.uint32)[(starts + layout.keys_at(size) >> 2) + lanes].reshape(-1)[:count]
    return keys[chosen], overall[chosen]


def _smallest(store: RowStore, group: Numbers, blocks: list[int], values: list[int]) -> Found:
    """Search a group that aggregates by minimum: rows whose cuts hold all values, then their degrees."""
    size, count, lanes = int(group[SIZE]), int(group[COUNT]), np.arange(ROWS)
    starts = store.blocks[blocks, AT][:, None]
    chosen = np.ones(len(starts) * ROWS, bool)
    chosen[count:] = False
    for rank, x in enumerate(values):
        first = store.arena[starts + layout.cuts_at(rank) + lanes].reshape(-1)
        length = store.arena[starts + layout.cuts_at(rank) + ROWS + lanes].reshape(-1)
        chosen &= (np.uint8(x) - first <= length) != bool(group[FLIPS] >> rank & 1)
    begins = store.blocks[blocks, RECORDS][:, None]
    records = (begins + lanes * layout.record_words(size)).reshape(-1)[chosen]
    degrees = np.full(len(records), 255, np.uint8)
    for rank, x in enumerate(values):
        packed = store.records[records + 1 + rank].astype(np.int64)
        flipped = bool(group[FLIPS] >> rank & 1)
        own = _degrees(x, packed & 255, packed >> 8 & 255, packed >> 16, flipped)
        degrees = np.minimum(degrees, own)
    return store.records[records], degrees


def _degrees(x: int, low: Any, high: Any, slope: Any, flipped: bool) -> Bytes:
    """Return the degrees of one value under many constraints."""
    distance = np.maximum(0, np.maximum(low.astype(np.int64) - x, x - high.astype(np.int64)))
    loss = np.minimum((distance * slope + 128) >> 8, 255)
    degrees: Bytes = (loss if flipped else 255 - loss).astype(np.uint8)
    return degrees


def _combined(store: RowStore, group: Numbers, degrees: Bytes, weights: Bytes) -> Bytes:
    """Combine the degrees of every row: the simple aggregators by columns, the others by the code of the
    boards.
    """
    kind, size = int(group[KIND]), int(group[SIZE])
    wide = degrees.astype(np.int64)
    overall = np.empty(degrees.shape[1], np.uint8)
    if kind == MAX:
        overall[:] = degrees.max(axis=0)
    elif kind == PRODUCT:
        product = np.full(degrees.shape[1], 255)
        for column in wide:
            product = (product * column + 127) // 255
        overall[:] = product
    elif kind == ARITHMETIC_MEAN:
        overall[:] = (2 * wide.sum(axis=0) + size) // (2 * size)
    elif kind == layout.WEIGHTED:
        weight = weights.sum(axis=0, dtype=np.int64)
        overall[:] = (2 * (wide * weights).sum(axis=0) + weight) // (2 * weight)
    else:
        scratch = np.zeros(2 * size, np.int64)
        for number, column in enumerate(wide.T):
            scratch[:size] = column
            overall[number] = combined(kind, store.patterns, int(group[PATTERN]), scratch, scratch, size)
    return overall
