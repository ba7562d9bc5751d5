"""Shared concepts: what an event costs with 10 million subscriptions, as slices, beside 100,000."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_most
from benchmarks.sizes import sized
from plugins.fuzzy.matching.population import NotificationRow
from plugins.fuzzy.matching.shared import SharedMatcher
from watchdog.header import BODY_AT

FEW, MANY = sized((100_000, 10_000_000), (300, 30_000))


def measure() -> Iterator[Measurement]:
    """Take the processor time of search and slices of 200 events, the best of several rounds."""
    events = workloads.events(200, workloads.WIDE_ATTRIBUTES, 4, workloads.WIDE_BYTES)
    events = [
        NotificationRow(0, int(feature), row.tobytes())
        for feature, row in zip(events.features, events.rows, strict=True)
    ]
    few, matches_of_few = _microseconds(FEW, events)
    many, matches = _microseconds(MANY, events)
    assert matches > 50 * matches_of_few
    yield at_most("shared_concepts_microseconds_an_event_10m_against_100k", many, few, 3.0)


def _microseconds(count: int, events: list[NotificationRow]) -> tuple[float, int]:
    matcher = SharedMatcher(None, "subset", workloads.WIDE_BYTES)
    matcher.add_all(np.arange(count, dtype=np.uint32), workloads.shared(count)[:, BODY_AT:])
    best, matches = float("inf"), 0
    for _ in range(6):
        begin = time.process_time()
        slices = [matcher.slices(*matcher.search.one(event)) for event in events]
        best = min(best, time.process_time() - begin)
        matches = sum(len(part.keys) for parts in slices for part in parts)
    return best / len(events) * 1e6, matches
