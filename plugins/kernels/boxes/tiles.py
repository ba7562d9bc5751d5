"""Tile order: boxes with near centres side by side, found in steps of bounded work.

A segment of the order is sorted along one attribute and cut into slabs of whole tiles, and each slab is a
segment again. `halving` cuts in two along the attribute whose centres are spread widest (`blocks`);
otherwise it is sort-tile-recursive: one attribute after the other, each in as many slabs as leave the same
number to every other (Leutenegger, Lopez and Edgington, 1997).

Small segments are finished by one compiled call; large ones are sorted by counting, piece by piece.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from plugins.kernels.compiled import compiled, is_available

Sides = npt.NDArray[Any]
Order = npt.NDArray[np.int64]

SMALL: Final = 16_384
"""Boxes of a segment that one step finishes."""
PIECE: Final = 65_536
"""Boxes that one step of sorting a large segment counts or moves."""
SAMPLE: Final = 256
"""Boxes sampled to estimate how widely the centres of a segment are spread."""


def centre(sides: Sides, box: int, attribute: int) -> int:
    """Return where a box lies on an attribute, rounded to what 16 bits hold."""
    low, high = int(sides[box, attribute]), int(sides[box, sides.shape[1] // 2 + attribute])
    return (low + high) >> 1


def widest(sides: Sides, order: Order, begin: int, end: int) -> int:
    """Return the attribute along which the centres of a segment are spread widest, by a sample of them."""
    step = max((end - begin) // SAMPLE, 1)
    best, most = 0, -1.0
    for a in range(sides.shape[1] // 2):
        count, total, squares = 0, 0.0, 0.0
        for i in range(begin, end, step):
            x = float(centre(sides, order[i], a))
            count += 1
            total += x
            squares += x * x
        spread = squares / count - (total / count) ** 2
        if spread > most:
            best, most = a, spread
    return best


def slabs_of(tiles: int, depth: int, attributes: int, halving: bool) -> int:
    """Return into how many slabs a segment of this many tiles is cut."""
    if halving or depth >= attributes - 1:
        return 2 if halving else tiles
    slabs = 1
    while slabs ** (attributes - depth) < tiles:
        slabs += 1
    return slabs


def slab_boxes(boxes: int, slabs: int, tile: int) -> int:
    """Return how many boxes each slab but the last has: whole tiles."""
    tiles = -(-boxes // tile)
    return -(-tiles // slabs) * tile


def tile_small(
    sides: Sides, order: Order, begin: int, end: int, depth: int, tile: int, halving: bool, waiting: Order
) -> None:
    """Bring order[begin:end] into tile order. `waiting` is room for three numbers a segment."""
    attributes = sides.shape[1] // 2
    held = 1
    waiting[0], waiting[1], waiting[2] = begin, end, depth
    while held:
        held -= 1
        first, last, deep = waiting[3 * held], waiting[3 * held + 1], waiting[3 * held + 2]
        boxes = last - first
        if boxes <= tile:
            continue
        along = widest(sides, order, first, last) if halving else min(deep, attributes - 1)
        keys = np.empty(boxes, np.int64)
        for i in range(boxes):
            keys[i] = centre(sides, order[first + i], along)
        order[first:last] = order[first:last][np.argsort(keys, kind="mergesort")]
        if not halving and deep >= attributes - 1:
            continue
        slab = slab_boxes(boxes, slabs_of(-(-boxes // tile), deep, attributes, halving), tile)
        while first < last:
            waiting[3 * held], waiting[3 * held + 1] = first, min(first + slab, last)
            waiting[3 * held + 2] = deep + 1
            held += 1
            first += slab


def tally(sides: Sides, order: Order, begin: int, end: int, attribute: int, counts: Order) -> None:
    """Count the centres of order[begin:end]."""
    for i in range(begin, end):
        counts[centre(sides, order[i], attribute)] += 1


def deal(
    sides: Sides, order: Order, begin: int, end: int, attribute: int, places: Order, into: Order
) -> None:
    """Put order[begin:end] where the counts say that their centres go."""
    for i in range(begin, end):
        x = centre(sides, order[i], attribute)
        into[places[x]] = order[i]
        places[x] += 1


def tile_order(sides: Sides, order: Order, tile: int, *, halving: bool) -> Iterator[int]:
    """Bring `order`, which names boxes, into tile order; yields after each step how many boxes it touched."""
    attributes = sides.shape[1] // 2
    machines: tuple[Any, ...] = (tile_small, tally, deal, widest)
    if is_available():
        machines = tuple(compiled(machine) for machine in machines)
    in_one, count, move, spread = machines
    waiting = np.zeros(3 * 4096, np.int64)
    bins = 1 << (8 * sides.dtype.itemsize)
    segments = [(0, len(order), 0)]
    while segments:
        begin, end, depth = segments.pop()
        if end - begin <= max(SMALL, tile):
            in_one(sides, order, begin, end, depth, tile, halving, waiting)
            yield end - begin
            continue
        along = int(spread(sides, order, begin, end)) if halving else min(depth, attributes - 1)
        counts, into = np.zeros(bins, np.int64), np.empty(end - begin, np.int64)
        for at in range(begin, end, PIECE):
            count(sides, order, at, min(at + PIECE, end), along, counts)
            yield min(PIECE, end - at)
        places = np.cumsum(counts) - counts
        for at in range(begin, end, PIECE):
            move(sides, order, at, min(at + PIECE, end), along, places, into)
            yield min(PIECE, end - at)
        for at in range(begin, end, 8 * PIECE):
            last = min(at + 8 * PIECE, end)
            order[at:last] = into[at - begin : last - begin]
            yield PIECE
        if not halving and depth >= attributes - 1:
            continue
        slab = slab_boxes(end - begin, slabs_of(-(-(end - begin) // tile), depth, attributes, halving), tile)
        if halving and slab > 16 * tile:
            slab = -(-slab // (16 * tile)) * 16 * tile
        segments += [(at, min(at + slab, end), depth + 1) for at in range(begin, end, slab)]
