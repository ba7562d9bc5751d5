"""Indexes over boxes of 12 attributes: `blocks` beside the paper's tree and beside PyPI's rtree, in processor
time for an event.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import workloads
from benchmarks.measurement import Measurement, alone, at_least, at_most, beside
from benchmarks.sizes import sized
from plugins.boxes.rtree import RTreeIndex
from plugins.kernels.boxes.box_store import BoxStore

COUNT, MANY = sized((100_000, 500_000), (1_000, 2_000))
EVENTS = sized(512, 8)
FEW = sized(32, 2)
"""Events for slow peers."""
MICROSECOND = 1e-6


def measure() -> Iterator[Measurement]:
    """Compare at the sizes of a node, of a gateway, and of the paper."""
    for count, half_width, goal in ((MANY, 0.4, 8.0), (MANY, 0.15, 2.5)):
        blocks, tree = _blocks(count, half_width), _tree(count, half_width)
        ours, theirs = _seconds(blocks), _seconds(tree)
        yield at_least(f"boxes_{count}_{half_width}_blocks_against_rtree", 1 / ours, 1 / theirs, goal)
    for half_width in (0.4, 0.15):
        ours = _seconds(_blocks(4_096, half_width))
        yield at_most(f"boxes_4096_{half_width}_blocks_microseconds", ours / MICROSECOND, 1.0, 5.0)
    for half_width in (0.4, 0.15):
        ours, theirs = _seconds(_blocks(COUNT, half_width)), _pypi(COUNT, half_width)
        yield at_least(f"boxes_100000_{half_width}_blocks_against_pypi_rtree", 1 / ours, 1 / theirs, 100.0)
        ours, theirs = _seconds(_blocks(COUNT, half_width)), _seconds(_counting(COUNT, half_width), FEW)
        yield beside(f"boxes_100000_{half_width}_blocks_against_counting", 1 / ours, 1 / theirs)
    store = BoxStore(workloads.BOX_ATTRIBUTES)
    store.load(*_boxes(COUNT, 0.4))
    yield alone("boxes_100000_blocks_bytes_a_box", store.held_bytes / len(store))


Search = Callable[[], object]


def _boxes(count: int, half_width: float) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    needs = np.full(count, (1 << workloads.BOX_ATTRIBUTES) - 1, np.uint64)
    return np.arange(count, dtype=np.uint32), workloads.boxes(count, half_width, 1), needs


def _points() -> "tuple[np.ndarray, np.ndarray]":
    return workloads.box_events(EVENTS, 2), np.full(EVENTS, (1 << workloads.BOX_ATTRIBUTES) - 1, np.uint64)


def _blocks(count: int, half_width: float) -> Search:
    store = BoxStore(workloads.BOX_ATTRIBUTES)
    store.load(*_boxes(count, half_width))
    points, present = _points()
    return lambda: store.search(points, present)


def _tree(count: int, half_width: float) -> Search:
    index = RTreeIndex(workloads.BOX_ATTRIBUTES)
    index.load(*_boxes(count, half_width))
    points, present = _points()
    return lambda: index.search(points, present)


def _counting(count: int, half_width: float) -> Search:
    """Return the counting algorithm, which the paper's figure 1 is about: the satisfied predicates of each
    attribute are looked up in an order of their own, and a box that all of them name contains the event.
    """
    k = workloads.BOX_ATTRIBUTES
    _, sides, _ = _boxes(count, half_width)
    orders = [np.argsort(sides[:, a], kind="stable") for a in range(k)]
    lows = [sides[order, a] for a, order in enumerate(orders)]
    highs = [sides[order, k + a] for a, order in enumerate(orders)]
    points, _ = _points()

    def search() -> list[object]:
        found: list[object] = []
        for point in points[:FEW]:
            named = np.zeros(count, np.uint8)
            for a in range(k):
                begun = np.searchsorted(lows[a], point[a], side="right")
                named[orders[a][:begun][highs[a][:begun] >= point[a]]] += 1
            found.append(np.flatnonzero(named == k))
        return found

    return search


def _pypi(count: int, half_width: float) -> float:
    """Return the seconds of one event with libspatialindex, loaded in bulk."""
    from rtree import index

    properties = index.Property(dimension=workloads.BOX_ATTRIBUTES)
    _, sides, _ = _boxes(count, half_width)
    entries = ((number, tuple(map(float, box)), None) for number, box in enumerate(sides))
    peer = index.Index(entries, properties=properties)
    points = [(*map(float, point), *map(float, point)) for point in workloads.box_events(64, 2)]
    begin = time.process_time()
    for point in points:
        list(peer.intersection(point))
    return (time.process_time() - begin) / len(points)


def _seconds(search: Search, events: int = EVENTS) -> float:
    """Return the seconds of one event, the best of several rounds."""
    search()
    times = []
    for _ in range(5):
        begin = time.process_time()
        search()
        times.append(time.process_time() - begin)
    return min(times) / events
