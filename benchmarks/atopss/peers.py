"""A-ToPSS beside libraries of fuzzy sets, at 100,000 subscriptions: events that are certain, and ±1 %.

Libraries know the degree of a value and no possibility of an uncertain one; for that the event is looked at
in eleven places, and the best of the smaller of both degrees is taken. A loop compares attributes before it
asks a library, which is kinder than their own interfaces.
"""

import time
from collections.abc import Callable, Iterator
from typing import Final

import fuzzylite
import numpy as np
import simpful

from benchmarks.atopss.matching import AXIS, COUNT, EVENTS, event, subscription
from benchmarks.measurement import Measurement, at_least
from plugins.atopss.matching.fast import FastMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.vectors import encode_subscription

LOOKED_AT: Final = 2
PLACES: Final = 11
Membership = Callable[[float], float]
Row = tuple[int, list[tuple[int, Membership]], float]
"""Mask, (attribute, membership) of each predicate, least possibility."""


def measure() -> Iterator[Measurement]:
    """Take the processor time of one event."""
    rng = np.random.default_rng(26)
    wanted = [subscription(rng) for _ in range(COUNT)]
    matcher = FastMatcher(None, columns_from=0)
    matcher.add_all([((n, 0), encode_subscription(one)) for n, one in enumerate(wanted)])
    peers = {"simpful": _simpful, "pyfuzzylite": _pyfuzzylite}
    tables = {name: [_row(one, term) for one in wanted] for name, term in peers.items()}
    for share, called in ((0.0, "certain"), (0.01, "one_percent")):
        events = [event(rng, round(share * AXIS)) for _ in range(EVENTS)]
        look = matcher.rows.published(events)
        ours = min(
            _timed(lambda look=look: matcher.rows.search(matcher.rows.plain, look, verifies=True))
            for _ in range(7)
        )
        found = [{key[0] for key, _ in matcher.rows.satisfied(one)} for one in events[:LOOKED_AT]]
        for name, rows in tables.items():
            answers = [_looked(rows, one) for one in events[:LOOKED_AT]]
            for answer, own in zip(answers, found, strict=True):
                # in few places, and in real numbers, a possibility may be missed by a little
                assert len(answer ^ own) <= 2 + len(own) // 5, (name, len(answer), len(own))
            theirs = min(_timed(lambda rows=rows, told=events[0]: _looked(rows, told)) for _ in range(3))
            yield at_least(f"atopss_100k_{called}_events_against_{name}", EVENTS / ours, 1 / theirs, 1000)


def _timed(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


def _simpful(shape: Shape) -> Membership:
    found: Membership = simpful.FuzzySet(function=simpful.Trapezoidal_MF(*_corners(shape))).get_value
    return found


def _pyfuzzylite(shape: Shape) -> Membership:
    found: Membership = fuzzylite.Trapezoid("", *_corners(shape)).membership
    return found


def _corners(shape: Shape) -> tuple[float, float, float, float]:
    return float(shape.m1), float(shape.m2), float(shape.m3), float(shape.m4)


def _row(wanted: Subscription, term: Callable[[Shape], Membership]) -> Row:
    mask = sum(1 << one.attribute for one in wanted.predicates)
    terms = [(one.attribute, term(one.shape)) for one in wanted.predicates]
    return mask, terms, max(wanted.possibility / 30, 1 / 255) - 1e-9


def _looked(rows: list[Row], told: Notification) -> set[int]:
    """Return the numbers of the subscriptions that an event satisfies."""
    lacking = ~sum(1 << attribute for attribute in told.values)
    places = {at: _places(shape) for at, shape in told.values.items()}
    found = set()
    for number, (mask, terms, least) in enumerate(rows):
        if mask & lacking:
            continue
        degree = min(
            max(min(degree, membership(x)) for x, degree in places[attribute])
            for attribute, membership in terms
        )
        if degree >= least:
            found.add(number)
    return found


def _places(shape: Shape) -> list[tuple[float, float]]:
    """Return where an event is looked at, and how possible each place is."""
    if shape.is_point:
        return [(float(shape.m1), 1.0)]
    half = (shape.m4 - shape.m1) / 2
    middle = (shape.m1 + shape.m4) / 2
    return [(float(x), 1 - abs(float(x) - middle) / half) for x in np.linspace(shape.m1, shape.m4, PLACES)]
