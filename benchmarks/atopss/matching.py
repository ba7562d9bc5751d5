"""A-ToPSS: events that are certain and events that are not, at 100,000 subscriptions, beside a plain loop.

42 attributes, two predicates a subscription, four values an event, as in the papers. Ratios are taken within
one run; every answer of the sieve is held against the loop's.
"""

import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from benchmarks.measurement import Measurement, alone, at_least, at_most
from benchmarks.sizes import sized
from plugins.atopss.canonical import canonical
from plugins.atopss.matching.fast import FastMatcher
from plugins.atopss.matching.sieved_rows import SievedRows
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import Shape, point
from plugins.atopss.subscriptions import Joined, Predicate, Subscription
from plugins.atopss.vectors import encode_subscription

COUNT: Final = sized(100_000, 3_000)
ATTRIBUTES: Final = 42
TOLD: Final = 4
EVENTS: Final = sized(200, 10)
AXIS: Final = 10_000
LOOKED_AT: Final = 2

Corners = tuple[int, int, int, int]
Row = tuple[int, tuple[tuple[int, Corners], ...], int]
"""Mask, (attribute, corners) of each predicate, least possibility: what the loop looks at."""


def measure() -> Iterator[Measurement]:
    """Take the processor time of an event, the best of several rounds."""
    rng = np.random.default_rng(26)
    wanted = [subscription(rng) for _ in range(COUNT)]
    matcher = FastMatcher(None, columns_from=0)
    matcher.add_all([((n, 0), encode_subscription(one)) for n, one in enumerate(wanted)])
    rows: SievedRows = matcher.rows
    loop = [_row(one) for one in wanted]
    taken: dict[float, tuple[float, float]] = {}
    for share in (0.0, 0.01, 0.025, 0.05):
        events = [event(rng, round(share * AXIS)) for _ in range(EVENTS)]
        seconds, found = _ours(rows, events)
        taken[share] = seconds / EVENTS, sum(map(len, found)) / EVENTS
        yield alone(f"atopss_100k_microseconds_an_event_{share:g}", 1e6 * seconds / EVENTS)
        if share <= 0.01:
            looked = min(_timed(lambda events=events: _looped(loop, events[0])) for _ in range(3))
            for at in range(LOOKED_AT):
                assert _looped(loop, events[at]) == found[at]
            name = "certain" if share == 0 else "one_percent"
            yield at_least(
                f"atopss_100k_{name}_events_against_plain_loop", EVENTS / seconds, 1 / looked, 1000
            )
    certain, matches = taken[0.0]
    yield at_most("atopss_100k_one_percent_against_certain_events", taken[0.01][0], certain, 1.5)
    wide, wide_matches = taken[0.05]
    yield at_most(
        "atopss_100k_seconds_a_match_five_percent_against_certain",
        wide / wide_matches,
        certain / matches,
        1.5,
    )
    yield at_most("atopss_bytes_of_a_subscription_with_two_predicates", rows.plain.held_bytes / COUNT, 64, 1)


def subscription(rng: np.random.Generator) -> Subscription:
    picks = rng.choice(ATTRIBUTES, 2, replace=False)
    leaves = tuple(Predicate(int(attribute), _shape(rng)) for attribute in sorted(picks))
    return canonical(0, Joined(False, leaves), possibility=2 * int(rng.integers(0, 16)))


def _shape(rng: np.random.Generator) -> Shape:
    """Return a set with a core of a sixth of the axis, and sides of up to a tenth."""
    core = int(rng.integers(0, AXIS))
    left, right = (int(width) for width in rng.integers(1, AXIS // 10, 2))
    return Shape(core - left, core, core + AXIS // 6, core + AXIS // 6 + right)


def event(rng: np.random.Generator, half: int) -> Notification:
    values = {}
    for attribute in rng.choice(ATTRIBUTES, TOLD, replace=False):
        x = int(rng.integers(0, AXIS))
        values[int(attribute)] = Shape(x - half, x, x, x + half) if half else point(x)
    return Notification(0, 0, 0, 0, values)


def _ours(rows: SievedRows, events: list[Notification]) -> tuple[float, list[set[tuple[int, int]]]]:
    look = rows.published(events)
    ends, keys, degrees = rows.search(rows.plain, look, verifies=True)
    told = (degrees >> 10) << 8 | (degrees & 511) >> 1
    pairs = list(zip((keys >> 8).tolist(), told.tolist(), strict=True))
    begins = [0, *ends.tolist()]
    found = [set(pairs[begins[at] : begins[at + 1]]) for at in range(len(events))]
    return min(_timed(lambda: rows.search(rows.plain, look, verifies=True)) for _ in range(9)), found


def _timed(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


def _row(wanted: Subscription) -> Row:
    mask = sum(1 << one.attribute for one in wanted.predicates)
    shapes = tuple(
        (one.attribute, (one.shape.m1, one.shape.m2, one.shape.m3, one.shape.m4)) for one in wanted.predicates
    )
    return mask, shapes, max(17 * wanted.possibility // 2, 1)


def _looped(rows: list[Row], told: Notification) -> set[tuple[int, int]]:
    """Return what a loop over all subscriptions finds: number and Π·256 + N."""
    lacking = ~sum(1 << attribute for attribute in told.values)
    values = {at: (shape.m1, shape.m2, shape.m3, shape.m4) for at, shape in told.values.items()}
    found = set()
    for number, (mask, predicates, least) in enumerate(rows):
        if mask & lacking:
            continue
        possible, necessary = 255, 255
        for attribute, (m1, m2, m3, m4) in predicates:
            n1, n2, n3, n4 = values[attribute]
            gap, spread = n2 - m3, m4 - m3 + n2 - n1
            if gap <= 0:
                gap, spread = m2 - n3, m2 - m1 + n4 - n3
            meets = 255 if gap <= 0 else 0 if gap >= spread else 255 * (spread - gap) // spread
            inside = min(_inside(n2 - m1, m2 - m1 + n2 - n1), _inside(m4 - n3, m4 - m3 + n4 - n3))
            possible, necessary = min(possible, meets), min(necessary, inside)
        if possible >= least:
            found.add((number, possible << 8 | necessary))
    return found


def _inside(room: int, spread: int) -> int:
    return 255 if room >= spread else max(0, 255 * room // spread)
