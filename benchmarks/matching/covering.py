"""Insertions into and removals from the covering forest: 100,000 subscriptions, half of them covered.

Rates are of processor time, so that other work on the machine does not count.
"""

import time
from collections.abc import Iterator

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_least
from benchmarks.sizes import sized
from plugins.fuzzy.relations.covering import CoveringForest
from watchdog.header import BODY_AT

COUNT = sized(100_000, 300)
WANTED = sized(100_000, 300)


def measure() -> Iterator[Measurement]:
    """Insert all, then remove the first half, for 42 and for 12 attributes."""
    for attributes, size in ((42, 2), (42, 4), (12, 3)):
        vectors = workloads.covered(COUNT, attributes, size, 0.5)
        keys = [(number >> 8, number & 255) for number in range(COUNT)]
        warm = CoveringForest("subset", workloads.WIDE_BYTES)
        warm.insert_all(keys[:1000], vectors[:1000][:, BODY_AT:])
        warm.remove_all(keys[:1000])
        forest = CoveringForest("subset", workloads.WIDE_BYTES)
        begin = time.process_time()
        forest.insert_all(keys, vectors[:, BODY_AT:])
        inserted = time.process_time()
        forest.remove_all(keys[: COUNT // 2])
        removed = time.process_time()
        name = f"{size}_of_{attributes}_attributes"
        yield at_least(f"covering_inserts_per_second_{name}", COUNT / (inserted - begin), WANTED, 1.0)
        yield at_least(f"covering_removals_per_second_{name}", COUNT / 2 / (removed - inserted), WANTED, 1.0)
