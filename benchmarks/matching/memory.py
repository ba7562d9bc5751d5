"""How near `fast` comes to merely reading what it must visit, in processor time, and what a subscription
takes.

What it must visit, for the minimum, is the cuts of every candidate (two bytes a constraint) and the record of
every match (key, v, V and slope); for the other aggregators it is the columns of every candidate. The peer
finds the same groups and adds these bytes up, eight at a time for columns; the positions of the matches'
records are given. A second peer reads everything that is held of the candidates, records included.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import njit

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_least, at_most, beside
from benchmarks.sizes import sized
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.kernels.compiled import compiled
from plugins.kernels.rows import scan
from plugins.kernels.rows.layout import AT, NOTHING, PREVIOUS, RECORDS, ROWS, TAIL, block_bytes, record_words
from watchdog.header import BODY_AT

SIZES = sized((100_000, 1_000_000, 3_000_000), (500, 1_000))
NAMES = ("min", "max", "product", "arithmetic_mean", "geometric_mean", "harmonic_mean")
PREDICATES = 2
EVENTS = sized(200, 4)

candidates = compiled(scan.candidates)


def measure() -> Iterator[Measurement]:
    """Compare min at three sizes, the other aggregators at the first, and weigh a subscription."""
    told = workloads.events(EVENTS, workloads.WIDE_ATTRIBUTES, 4, workloads.WIDE_BYTES)
    for count in SIZES:
        matcher = _loaded(count, 0)
        visited, held = _bytes(matcher, told)
        yield at_most(f"min_bytes_visited_of_bytes_held_of_candidates_at_{count}", visited, held, 1.0)
        ours, reading, whole = _seconds(matcher, told, _records_of_matches(matcher, told))
        yield at_least(f"min_speed_of_reading_what_it_visits_at_{count}", 1 / ours, 1 / reading, 0.7)
        yield beside(f"min_speed_of_reading_its_candidates_at_{count}", 1 / ours, 1 / whole)
    for kind, name in enumerate(NAMES[1:], 1):
        ours, reading, _ = _seconds(_loaded(SIZES[0], kind), told, NOWHERE)
        yield beside(f"{name}_speed_of_reading_at_{SIZES[0]}", 1 / ours, 1 / reading)
    narrow = FastMatcher(None, "subset", 1)
    vectors = workloads.distinct(100_000, workloads.NARROW_ATTRIBUTES, 3, 1)
    narrow.add_all(np.arange(len(vectors), dtype=np.uint32), vectors[:, BODY_AT:])
    yield at_most("bytes_of_a_three_attribute_subscription", narrow.store.held_bytes / len(vectors), 32, 1.0)


def _loaded(count: int, kind: int) -> FastMatcher:
    vectors = workloads.distinct(count, workloads.WIDE_ATTRIBUTES, PREDICATES, workloads.WIDE_BYTES)
    vectors[:, 5] |= kind
    matcher = FastMatcher(None, "subset", workloads.WIDE_BYTES)
    matcher.add_all(np.arange(count, dtype=np.uint32), vectors[:, BODY_AT:])
    return matcher


Where = tuple[Any, Any]
"""Where the records of all matches begin, and where those of each event end."""

NOWHERE: Where = (np.zeros(0, np.int64), np.zeros(EVENTS, np.int64))


def _records_of_matches(matcher: FastMatcher, told: workloads.Events) -> Where:
    store = matcher.store
    begins = store.blocks[:, RECORDS][:, None] + record_words(PREDICATES) * np.arange(ROWS)
    of_key = np.zeros(store.count, np.int64)
    for block in begins:
        keys = store.records[block]
        held = keys < store.count
        of_key[keys[held]] = block[held]
    ends, (keys, _) = matcher.search.many(told.rows, told.events, told.features, False)
    return of_key[keys], ends


def _bytes(matcher: FastMatcher, told: workloads.Events) -> tuple[float, float]:
    """Return the bytes an event must visit, and those held of its candidates."""
    blocks = _visit(matcher, told, block_bytes(PREDICATES, 0) >> 3, NOWHERE)[0]
    ends, _ = matcher.search.many(told.rows, told.events, told.features, False)
    record, events = 4 * record_words(PREDICATES), len(told.events)
    cuts = blocks * block_bytes(PREDICATES, 0)
    return (cuts + int(ends[-1]) * record) / events, (cuts + blocks * ROWS * record) / events


def _visit(
    matcher: FastMatcher, told: workloads.Events, length: int, records: Where, whole: bool = False
) -> Any:
    store = matcher.store
    visited = np.zeros(store.group_count, np.int32)
    words = store.arena[: len(store.arena) // 8 * 8].view(np.uint64)
    pairs = store.records[: len(store.records) // 2 * 2].view(np.uint64)
    tables = (store.groups, store.group_count, store.blocks, store.directory)
    asked = (told.events, told.features, visited)
    return _reading(words, pairs, *tables, *asked, length, store.records, *records, whole)


def _seconds(matcher: FastMatcher, told: workloads.Events, records: Where) -> tuple[float, float, float]:
    """Return the best times of one event: matching, reading what it visits, reading its candidates."""
    kind = int(matcher.store.groups[0, 3])
    length = block_bytes(PREDICATES, kind) >> 3
    actions: list[Callable[[], object]] = [
        lambda: matcher.search.many(told.rows, told.events, told.features, False),
        lambda: _visit(matcher, told, length, records),
        lambda: _visit(matcher, told, length, NOWHERE, whole=True),
    ]
    times = [[_timed(action) for action in actions] for _ in range(14)][2:]
    ours, reading, whole = (min(column) / len(told.events) for column in zip(*times, strict=True))
    return ours, reading, whole


def _timed(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


@njit
def _reading(
    words: Any,
    pairs: Any,
    groups: Any,
    count: int,
    blocks: Any,
    directory: Any,
    events: Any,
    features: Any,
    visited: Any,
    length: int,
    records: Any,
    chosen: Any,
    ends: Any,
    whole: bool,
) -> Any:
    total, blocks_read = np.uint64(0), 0
    for event in range(len(events)):
        found = candidates(groups, count, directory, events[event], features[event], False, visited)
        for i in range(found):
            block = groups[visited[i], TAIL]
            while block != NOTHING:
                start = np.uint64(blocks[block, AT] >> 3)
                for word in range(np.uint64(length)):
                    total += words[start + word]
                if whole:
                    start = np.uint64(blocks[block, RECORDS] >> 1)
                    for word in range(np.uint64(ROWS * (PREDICATES + 1) >> 1)):
                        total += pairs[start + word]
                blocks_read += 1
                block = blocks[block, PREVIOUS]
        for i in range(ends[event - 1] if event else 0, ends[event]):
            begin = np.uint64(chosen[i])
            for word in range(np.uint64(PREDICATES + 1)):
                total += np.uint64(records[begin + word])
    return blocks_read, total
