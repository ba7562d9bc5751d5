"""A-ToPSS: what an event costs where 10 million subscribers share concepts, in slices, beside 100,000."""

import time
from collections.abc import Iterator
from typing import Final

import numpy as np

from benchmarks.atopss.matching import event, subscription
from benchmarks.measurement import Measurement, at_most
from benchmarks.sizes import sized
from plugins.atopss.matching.shared import SharedMatcher
from plugins.atopss.vectors import encode_notification, encode_subscription

FEW, MANY = sized((100_000, 10_000_000), (300, 30_000))
CONCEPTS: Final = sized(5_000, 50)


def measure() -> Iterator[Measurement]:
    """Take the processor time of search and slices of 100 events, the best of several rounds."""
    rng = np.random.default_rng(26)
    bodies = list(dict.fromkeys(encode_subscription(subscription(rng))[3:] for _ in range(CONCEPTS)))
    told = [encode_notification(event(rng, 100)) for _ in range(100)]
    few, matches_of_few = _microseconds(FEW, bodies, told)
    many, matches = _microseconds(MANY, bodies, told)
    assert matches > 50 * matches_of_few
    yield at_most("atopss_shared_microseconds_an_event_10m_against_100k", many, few, 3.0)


def _microseconds(count: int, bodies: list[bytes], told: list[bytes]) -> tuple[float, int]:
    matcher = SharedMatcher(None)
    rng = np.random.default_rng(4)
    each = count // len(bodies)
    for number, body in enumerate(bodies):
        keys = np.arange(number * each, (number + 1) * each, dtype=np.uint32)
        thresholds = (2 * rng.integers(0, 16, each) << 5 | 2 * rng.integers(0, 16, each)).astype(np.uint16)
        matcher.add_all(b"\0\0\0" + body, keys, thresholds)
    best, matches = float("inf"), 0
    for _ in range(5):
        begin = time.process_time()
        slices = [matcher.match_slices(vector, 0, 0) for vector in told]
        best = min(best, time.process_time() - begin)
        matches = sum(len(part.keys) for parts in slices for part in parts)
    return best / len(told) * 1e6, matches
