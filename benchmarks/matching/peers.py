"""`fast` beside what else evaluates memberships over a table of subscriptions, at 100,000 of them.

Every peer gets its subscriptions and events ready made and finds the same subscriptions; those with a loop
in Python compare attributes before they evaluate anything, which is kinder than their own interfaces.
"""

import time
from collections.abc import Callable, Iterator

import duckdb
import fuzzylite
import numpy as np
import pandas as pd
import simpful

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_least
from benchmarks.sizes import sized
from plugins.fuzzy.matching.fast import FastMatcher
from watchdog.header import BODY_AT
from watchdog.membership import SLOPES

COUNT = sized(100_000, 300)
LOOKED_AT = 3

Row = tuple[int, tuple[int, ...], tuple[tuple[int, int, int], ...], int]
"""Feature, attributes, (v, V, slope code) of each, floor."""


def measure() -> Iterator[Measurement]:
    """Take the processor time of one event: ours from a batch of 200, a peer's from the best of three."""
    wide = workloads.distinct(COUNT, workloads.WIDE_ATTRIBUTES, 2, workloads.WIDE_BYTES)
    events = workloads.events(200, workloads.WIDE_ATTRIBUTES, 4, workloads.WIDE_BYTES)
    ours, found = _ours(wide, events, workloads.WIDE_BYTES)
    rows = rows_of(wide, workloads.WIDE_BYTES)
    peers: list[tuple[str, float, Callable[[int], set[int]], bool]] = [
        ("plain_loop", 1000, plain_loop(rows, events), True),
        ("simpful", 1000, _simpful(rows, events), False),
        ("pyfuzzylite", 1000, _pyfuzzylite(rows, events), False),
        ("duckdb", 500, _duckdb(rows, events), True),
        ("pandas", 500, _pandas(rows, events), True),
    ]
    for name, goal, ask, same in peers:
        seconds = _best(ask)
        for event in range(LOOKED_AT):
            answer = ask(event)
            if same:
                assert answer == found[event], name
            else:  # peers in floating point may differ by one at the edge of a threshold
                assert len(answer ^ found[event]) <= 2 + len(found[event]) // 10, name
        yield at_least(f"wide_100k_events_per_second_against_{name}", 1 / ours, 1 / seconds, goal)
    narrow = workloads.distinct(COUNT, workloads.NARROW_ATTRIBUTES, 3, 1)
    events = workloads.events(50, workloads.NARROW_ATTRIBUTES, 5, 1)
    ours, found = _ours(narrow, events, 1)
    loop = plain_loop(rows_of(narrow, 1), events)
    seconds = _best(loop)
    assert all(loop(event) == found[event] for event in range(LOOKED_AT))
    yield at_least("narrow_100k_events_per_second_against_plain_loop", 1 / ours, 1 / seconds, 500)


def _ours(vectors: workloads.Bytes, events: workloads.Events, width: int) -> tuple[float, list[set[int]]]:
    matcher = FastMatcher(None, "subset", width)
    matcher.add_all(np.arange(len(vectors), dtype=np.uint32), vectors[:, BODY_AT:])
    ends, (keys, _) = matcher.search.many(events.rows, events.events, events.features)
    found = [set(part.tolist()) for part in np.split(keys.copy(), ends[:-1])]
    best = min(
        _timed(lambda: matcher.search.many(events.rows, events.events, events.features)) for _ in range(7)
    )
    return best / len(events.events), found


def _timed(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


def _best(ask: Callable[[int], set[int]]) -> float:
    """Return the seconds of one event: the mean over some, at the best of three times."""
    times = [_timed(lambda: [ask(event) for event in range(LOOKED_AT)]) for _ in range(3)]
    return min(times) / LOOKED_AT


def rows_of(vectors: workloads.Bytes, width: int) -> list[Row]:
    """Return vectors taken apart, as a plain loop wants them."""
    rows = []
    for vector in vectors.tolist():
        feature = int.from_bytes(bytes(vector[-width:]), "big")
        attributes = tuple(index for index in range(8 * width) if feature >> index & 1)
        triples = tuple(
            (vector[at], vector[at + 1], vector[at + 2]) for at in range(6, 6 + 3 * len(attributes), 3)
        )
        rows.append((feature, attributes, triples, max(17 * (vector[5] >> 4), 1) - 1))
    return rows


def plain_loop(rows: list[Row], events: workloads.Events) -> Callable[[int], set[int]]:
    """Return a function that finds what an event matches by looking at every row."""
    slopes = list(SLOPES)
    ready = [
        (feature, [(a, v, V, slopes[g]) for a, (v, V, g) in zip(attributes, triples, strict=True)], floor)
        for feature, attributes, triples, floor in rows
    ]

    def ask(event: int) -> set[int]:
        values, lacking = events.rows[event].tolist(), ~int(events.features[event])
        found = set()
        for number, (feature, constraints, floor) in enumerate(ready):
            if feature & lacking:
                continue
            degree = 255
            for attribute, v, V, slope in constraints:
                x = values[attribute]
                distance = v - x if x < v else x - V if x > V else 0
                degree = min(degree, 255 - min(255, distance * slope + 128 >> 8))
            if degree > floor:
                found.add(number)
        return found

    return ask


def _trapezoid(v: int, V: int, g: int) -> tuple[float, float, float, float]:
    """Return the four corners; the foot lies one rounding further out than where the integers reach 0."""
    spread = 255 * 256 / SLOPES[g]
    return v - spread, float(v), float(V), V + spread


def _by_terms(
    rows: list[Row], events: workloads.Events, term: Callable[..., Callable[[float], float]]
) -> Callable[[int], set[int]]:
    ready = [
        (
            feature,
            [(a, term(*_trapezoid(*triple))) for a, triple in zip(attributes, triples, strict=True)],
            floor,
        )
        for feature, attributes, triples, floor in rows
    ]

    def ask(event: int) -> set[int]:
        values, lacking = [float(x) for x in events.rows[event]], ~int(events.features[event])
        found = set()
        for number, (feature, constraints, floor) in enumerate(ready):
            if not feature & lacking:
                degree = min(membership(values[attribute]) for attribute, membership in constraints)
                if degree > (floor + 0.5) / 255:
                    found.add(number)
        return found

    return ask


def _simpful(rows: list[Row], events: workloads.Events) -> Callable[[int], set[int]]:
    return _by_terms(
        rows,
        events,
        lambda a, b, c, d: simpful.FuzzySet(function=simpful.Trapezoidal_MF(a, b, c, d)).get_value,
    )


def _pyfuzzylite(rows: list[Row], events: workloads.Events) -> Callable[[int], set[int]]:
    return _by_terms(rows, events, lambda a, b, c, d: fuzzylite.Trapezoid("", a, b, c, d).membership)


def _table(rows: list[Row]) -> pd.DataFrame:
    flat = [
        (*attributes, *(n for v, V, g in triples for n in (v, V, SLOPES[g])), floor)
        for _, attributes, triples, floor in rows
    ]
    return pd.DataFrame(
        flat, columns=["a", "b", "a_low", "a_high", "a_slope", "b_low", "b_high", "b_slope", "floor"]
    )


def _duckdb(rows: list[Row], events: workloads.Events) -> Callable[[int], set[int]]:
    database = duckdb.connect()
    database.execute("set threads to 1")
    subscriptions = _table(rows).reset_index(names="id")
    database.execute("create table subscription as select * from subscriptions")
    assert len(subscriptions)
    degree = "255 - least(255, (greatest({0}_low - {1}.x, {1}.x - {0}_high, 0) * {0}_slope + 128) >> 8)"
    query = f"""select id from subscription join stated p on a = p.attribute join stated q on b = q.attribute
        where least({degree.format("a", "p")}, {degree.format("b", "q")}) > floor"""

    def ask(event: int) -> set[int]:
        feature = int(events.features[event])
        here = [(i, int(events.rows[event, i])) for i in range(workloads.WIDE_ATTRIBUTES) if feature >> i & 1]
        values = ", ".join(f"({attribute}, {x})" for attribute, x in here)
        database.execute(
            f"create or replace temp table stated as select * from (values {values}) t(attribute, x)"
        )
        return {number for (number,) in database.execute(query).fetchall()}

    return ask


def _pandas(rows: list[Row], events: workloads.Events) -> Callable[[int], set[int]]:
    table = _table(rows)

    def ask(event: int) -> set[int]:
        feature, values = int(events.features[event]), events.rows[event].astype(np.int64)
        here = [i for i in range(workloads.WIDE_ATTRIBUTES) if feature >> i & 1]
        some = table[table["a"].isin(here) & table["b"].isin(here)]
        degree = np.full(len(some), 255)
        for name in "ab":
            x = values[some[name].to_numpy()]
            low, high = some[f"{name}_low"].to_numpy(), some[f"{name}_high"].to_numpy()
            distance = np.maximum(np.maximum(low - x, x - high), 0)
            loss = np.minimum(255, distance * some[f"{name}_slope"].to_numpy() + 128 >> 8)
            degree = np.minimum(degree, 255 - loss)
        return set(some.index[degree > some["floor"].to_numpy()].tolist())

    return ask
