"""How `fast` grows with distinct subscriptions: workload (ii), and (iii) without shared concepts.

The cost of an event for every size beside that for the size before, both of this run, and beside the plain
loop at the sizes where that is bearable. Ten million need about 2 GB while they are loaded; a machine with
less leaves them out and says so by their absence.
"""

import os
import time
from collections.abc import Iterator

import numpy as np

from benchmarks import workloads
from benchmarks.matching.peers import plain_loop, rows_of
from benchmarks.measurement import Measurement, at_least, beside
from benchmarks.sizes import sized
from plugins.fuzzy.matching.fast import FastMatcher
from watchdog.header import BODY_AT

SIZES = sized((1_000, 10_000, 100_000, 1_000_000, 10_000_000), (200, 1_000))
LOOPED = sized(100_000, 200)
BYTES_TO_LOAD = 250
EVENTS = sized(50, 4)

WORKLOADS = {
    "narrow": (workloads.NARROW_ATTRIBUTES, 3, 1, 5),
    "wide": (workloads.WIDE_ATTRIBUTES, 2, workloads.WIDE_BYTES, 4),
}
"""Name → (attributes, predicates a subscription, feature bytes, attributes of an event)."""


def measure() -> Iterator[Measurement]:
    """Take the processor time of an event of a batch of 50, the best of several."""
    for name, (attributes, size, width, with_true_reading) in WORKLOADS.items():
        events = workloads.events(EVENTS, attributes, with_true_reading, width)
        before = 0.0
        for count in SIZES:
            if count * BYTES_TO_LOAD > os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
                continue
            vectors = workloads.distinct(count, attributes, size, width)
            matcher = FastMatcher(None, "subset", width, columns_from=0, compile_from=0)
            matcher.add_all(np.arange(count, dtype=np.uint32), vectors[:, BODY_AT:])
            ours = _microseconds(matcher, events)
            if count <= LOOPED:
                loop = _of_loop(vectors, events, width)
                goal = 500 if count == LOOPED else 1
                yield at_least(
                    f"{name}_{count}_events_per_second_against_plain_loop", 1e6 / ours, 1e6 / loop, goal
                )
            if before:
                growth = f"{name}_{count}_events_per_second_against_a_tenth"
                yield beside(growth, 1e6 / ours, 1e6 / before)
            before = ours


def _microseconds(matcher: FastMatcher, events: workloads.Events) -> float:
    best = float("inf")
    for _ in range(6):
        begin = time.process_time()
        matcher.search.many(events.rows, events.events, events.features)
        best = min(best, time.process_time() - begin)
    return best / EVENTS * 1e6


def _of_loop(vectors: workloads.Bytes, events: workloads.Events, width: int) -> float:
    ask = plain_loop(rows_of(vectors, width), events)
    best = float("inf")
    for _ in range(2):
        begin = time.process_time()
        for event in range(3):
            ask(event)
        best = min(best, time.process_time() - begin)
    return best / 3 * 1e6
