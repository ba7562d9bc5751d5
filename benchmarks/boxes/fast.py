"""What `fast` gains from bitsets: the same matcher with and without them, in one run, in processor time."""

import time
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np

from benchmarks import workloads
from benchmarks.measurement import Measurement, alone, at_least
from benchmarks.sizes import sized
from plugins.fuzzy.matching import cut_bits
from plugins.fuzzy.matching.fast import FastMatcher
from watchdog.header import BODY_AT

COUNT = sized(100_000, 1_000)
EVENTS = sized(256, 8)
NEVER = 1 << 40


def measure() -> Iterator[Measurement]:
    """Compare on crisp minima of five and seven attributes, narrow and wide, in batches and alone."""
    for attributes, half_width, goal in ((7, 0.15, 3.0), (7, 0.4, 3.0), (5, 0.15, 0.95), (5, 0.4, 0.95)):
        name = f"fast_100000_of_{attributes}_{half_width}"
        with patch.object(cut_bits, "ROWS_FROM", NEVER):
            before = _seconds(_matcher(COUNT, attributes, half_width), attributes)
        matcher = _matcher(COUNT, attributes, half_width)
        after = _seconds(matcher, attributes)
        yield at_least(f"{name}_with_bitsets_against_without", 1 / after[0], 1 / before[0], goal)
        yield at_least(f"{name}_single_with_bitsets_against_without", 1 / after[1], 1 / before[1], 0.95)
        yield alone(f"{name}_bytes_of_bits_a_row", matcher.search._bits.held_bytes / len(matcher))


def _matcher(count: int, attributes: int, half_width: float) -> FastMatcher:
    sides = workloads.boxes(count, half_width, 1, attributes=attributes)
    vectors = np.zeros((count, 6 + 3 * attributes + 2), np.uint8)
    triples = vectors[:, 6:-2].reshape(count, attributes, 3)
    triples[:, :, 0], triples[:, :, 1], triples[:, :, 2] = sides[:, :attributes], sides[:, attributes:], 127
    vectors[:, -2:] = 1, (1 << attributes) - 1
    matcher = FastMatcher(None)
    matcher.add_all(np.arange(count, dtype=np.uint32), vectors[:, BODY_AT:])
    return matcher


def _seconds(matcher: FastMatcher, attributes: int) -> tuple[float, float]:
    """Return the seconds of one event, in a batch and alone: the best of several rounds."""
    rows = np.zeros((EVENTS, 8), np.uint8)
    rows[:, :attributes] = workloads.box_events(EVENTS, 2, attributes=attributes)
    told = rows, np.zeros(EVENTS, np.uint8), np.full(EVENTS, (1 << attributes) - 1, np.int64)
    matcher.search.many(*told)
    batch, single = [], []
    for _ in range(5):
        begin = time.process_time()
        matcher.search.many(*told)
        batch.append(time.process_time() - begin)
        begin = time.process_time()
        for at in range(EVENTS):
            matcher.search.many(*(column[at : at + 1] for column in told))
        single.append(time.process_time() - begin)
    return min(batch) / EVENTS, min(single) / EVENTS
