"""How near `fast` comes to merely reading what it must visit, in processor time, and what a subscription
takes.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import njit

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_least, at_most
from plugins.fuzzy.fast import FastMatcher
from plugins.kernels import scan
from plugins.kernels.layout import AT, NOTHING, PREVIOUS, SIZE, TAIL

SIZES = (100_000, 1_000_000, 3_000_000)
NAMES = ("min", "max", "product", "arithmetic_mean", "geometric_mean", "harmonic_mean")


def measure() -> Iterator[Measurement]:
    """Compare with a loop that finds the same blocks and only adds up their bytes, eight at a time."""
    told = workloads.events(200, workloads.WIDE_ATTRIBUTES, 4, workloads.WIDE_BYTES)
    for count in SIZES:
        matcher = _loaded(count, 0)
        ours, reading = _seconds(matcher, told)
        yield at_least(f"min_speed_of_reading_at_{count}", 1 / ours, 1 / reading, 0.7)
    for kind, name in enumerate(NAMES[1:], 1):
        ours, reading = _seconds(_loaded(SIZES[0], kind), told)
        yield at_least(f"{name}_speed_of_reading_at_{SIZES[0]}_stated", 1 / ours, 1 / reading, 0.0)
    narrow = FastMatcher(None, "subset", 1)
    vectors = workloads.distinct(100_000, workloads.NARROW_ATTRIBUTES, 3, 1)
    narrow.add_all(np.arange(len(vectors), dtype=np.uint32), vectors)
    yield at_most("bytes_of_a_three_attribute_subscription", narrow.store.held_bytes / len(vectors), 32, 1.0)


def _loaded(count: int, kind: int) -> FastMatcher:
    vectors = workloads.distinct(count, workloads.WIDE_ATTRIBUTES, 2, workloads.WIDE_BYTES)
    vectors[:, 5] |= kind
    matcher = FastMatcher(None, "subset", workloads.WIDE_BYTES)
    matcher.add_all(np.arange(count, dtype=np.uint32), vectors)
    return matcher


def _seconds(matcher: FastMatcher, told: workloads.Events) -> tuple[float, float]:
    """Return the best times of one event, matching and reading in turn."""
    store = matcher.store
    visited = np.zeros(store.group_count, np.int32)
    arrays = (store.groups, store.group_count, store.blocks, store.directory)

    def read() -> Any:
        words = store.arena[: len(store.arena) // 8 * 8].view(np.uint64)
        return _reading(words, *arrays, told.events, told.features, visited)

    def match() -> Any:
        return matcher.search.many(told.rows, told.events, told.features)

    times = [(_timed(match), _timed(read)) for _ in range(12)][2:]
    ours, reading = (min(column) for column in zip(*times, strict=True))
    return ours / len(told.events), reading / len(told.events)


def _timed(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


@njit
def _reading(
    words: Any, groups: Any, count: int, blocks: Any, directory: Any, events: Any, features: Any, visited: Any
) -> Any:
    total = np.uint64(0)
    for event in range(len(events)):
        found = scan._candidates(groups, count, directory, events[event], features[event], False, visited)
        for i in range(found):
            block = groups[visited[i], TAIL]
            length = np.uint64(8 * (4 * groups[visited[i], SIZE] + 5))
            while block != NOTHING:
                start = np.uint64(blocks[block, AT] >> 3)
                for word in range(length):
                    total += words[start + word]
                block = blocks[block, PREVIOUS]
    return total
