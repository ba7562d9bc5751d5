"""What asking together gains: a batch beside the same notifications one by one, in processor time.

The search alone at sizes within and beyond the caches, and the whole interface, reading of vectors and
making of results included.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_least, beside
from benchmarks.sizes import sized
from plugins.fuzzy.matching.fast import FastMatcher
from watchdog.header import BODY_AT

SIZES = sized((100_000, 1_000_000, 5_000_000), (500, 1_000))
EVENTS = sized(200, 4)


def measure() -> Iterator[Measurement]:
    """Compare on workload (ii): seven attributes, of which events have five."""
    events = workloads.events(EVENTS, workloads.NARROW_ATTRIBUTES, 5, 1)
    for count in SIZES:
        matcher = FastMatcher(None, "subset", 1)
        vectors = workloads.distinct(count, workloads.NARROW_ATTRIBUTES, 3, 1)
        matcher.add_all(np.arange(count, dtype=np.uint32), vectors[:, BODY_AT:])
        yield from _of_search(matcher, events)
        if count == SIZES[0]:
            yield _of_interface(matcher, _vectors(events))


def _of_search(matcher: FastMatcher, events: workloads.Events) -> Iterator[Measurement]:
    def ask(together: bool | None) -> Callable[[], object]:
        return lambda: matcher.search.many(events.rows, events.events, events.features, together)

    single, together, chosen = _best([ask(False), ask(True), ask(None)])
    name = f"batch_events_per_second_{len(matcher)}"
    yield beside(f"{name}_together_against_one_by_one", 1 / together, 1 / single)
    yield at_least(f"{name}_as_chosen_against_one_by_one", 1 / chosen, 1 / single, 0.9)


def _of_interface(matcher: FastMatcher, notifications: list[tuple[bytes, int]]) -> Measurement:
    one, many = _best(
        [
            lambda: [matcher.match(vector, 0, 0) for vector, _ in notifications],
            lambda: list(matcher.match_batch(notifications, 0)),
        ]
    )
    return at_least(f"match_batch_events_per_second_{len(matcher)}_against_match", 1 / many, 1 / one, 1.0)


def _vectors(events: workloads.Events) -> list[tuple[bytes, int]]:
    """Return the events as notification vectors."""
    made = []
    for row, feature in zip(events.rows, events.features.tolist(), strict=True):
        values = bytes(int(row[index]) for index in range(8) if feature >> index & 1)
        made.append((bytes(6) + values + bytes([1, feature]), 0))
    return made


def _best(actions: list[Callable[[], object]]) -> list[float]:
    """Return the seconds of one event for each, the best of several rounds in turn."""
    times = [[_timed(action) for action in actions] for _ in range(6)][1:]
    return [min(column) / EVENTS for column in zip(*times, strict=True)]


def _timed(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin
