"""Contacts of walks that change during the run, against the slow detector on the walks that came of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulation.contacts.contact import Contacts
from emulation.contacts.courses import Courses
from emulation.contacts.detection import find_contacts
from emulation.contacts.windows import find_contacts_in_windows
from emulation.mobility.model import Legs
from tests.emulation.contacts.slow_detector import (
    Interval,
    Point,
    assert_same,
    coordinates,
    legs,
    points_of,
    rows,
    slow,
    walks_of,
)
from tests.sizes import examples

DURATION_MS = 200_000.0
REACHES = st.lists(st.sampled_from([5.0, 25.0, 50.0, 65.0]), min_size=4, max_size=4)


def courses(walks: list[list[Point]], ranges: list[float]) -> Courses:
    planned = [legs(points) for points in walks]
    reaches = ranges[: len(walks)]
    return Courses(planned, find_contacts(planned, reaches, DURATION_MS), [(0.0, reaches)], DURATION_MS)


@st.composite
def turns(draw: st.DrawFn) -> list[tuple[float, int, list[Point]]]:
    """Some (when, who, where to afterwards), in the order of time."""
    moments = sorted(draw(st.lists(st.integers(0, 199_999), min_size=1, max_size=5)))
    found = []
    for moment in moments:
        rest = {min(200_000, moment + 1000 * length) for length in draw(st.lists(st.integers(1, 90)))}
        way = [(float(at), draw(coordinates), draw(coordinates)) for at in sorted(rest | {200_000})]
        found.append((float(moment), draw(st.integers(0, 3)), way))
    return found


def turn(found: Courses, at_ms: float, node: int, way: list[Point]) -> Contacts:
    begin = (at_ms, *found.walks[node].place_at(at_ms))
    return found.turn(node, at_ms, legs([begin, *way]))


@given(walks_of(), REACHES, turns())
@settings(max_examples=examples(120), deadline=None)
def test_after_any_turns_contacts_are_those_of_the_walks_that_came_of_them(
    walks: list[list[Point]], ranges: list[float], changes: list[tuple[float, int, list[Point]]]
) -> None:
    found = courses(walks, ranges)
    for at_ms, who, way in changes:
        node = who % len(walks)
        before, walked = found.contacts, found.walks
        turn(found, at_ms, node, way)
        _assert_only_the_future_of_one_changed(before, found.contacts, node, at_ms)
        assert [one is other for one, other in zip(found.walks, walked, strict=True)].count(False) == 1
    for walk in found.walks:
        assert walk.begin_ms[0] == 0.0
        assert walk.end_ms[-1] == DURATION_MS
        assert (walk.end_ms > walk.begin_ms).all()
        assert (walk.begin_ms[1:] == walk.end_ms[:-1]).all()
        assert (walk.x0_m[1:] == walk.x1_m[:-1]).all()
        assert (walk.y0_m[1:] == walk.y1_m[:-1]).all()
    assert_same(rows(found.contacts), slow([points_of(walk) for walk in found.walks], ranges), slack=0.05)


def _assert_only_the_future_of_one_changed(
    before: Contacts, after: Contacts, node: int, at_ms: float
) -> None:
    def kept(contacts: Contacts) -> list[tuple[int, int, float, float]]:
        return [row for row in rows(contacts) if node not in row[:2] or row[3] < at_ms - 0.001]

    def begun(contacts: Contacts) -> list[tuple[int, int, float]]:
        return [row[:3] for row in rows(contacts) if row[2] < at_ms - 0.001]

    assert kept(before) == [row for row in kept(after) if node not in row[:2] or row[2] < at_ms]
    assert begun(before) == begun(after)


def test_a_turn_to_the_same_course_changes_nothing() -> None:
    walks = [[(0.0, 0.0, 0.0), (200_000.0, 0.0, 0.0)], [(0.0, -100.0, 0.0), (200_000.0, 100.0, 0.0)]]
    found = courses(walks, [25.0, 25.0])
    before = rows(found.contacts)
    turn(found, 90_000.0, 1, [(200_000.0, 100.0, 0.0)])
    assert len(before) == 1
    assert rows(found.contacts)[0] == pytest.approx(before[0], abs=1e-6)


def test_a_contact_that_lasts_is_joined_and_one_that_no_longer_comes_is_gone() -> None:
    stands = [(0.0, 0.0, 0.0), (200_000.0, 0.0, 0.0)]
    passes = [(0.0, -100.0, 0.0), (200_000.0, 100.0, 0.0)]
    comes_later = [(0.0, 100.0, 0.0), (200_000.0, 100.0, 0.0)]
    found = courses([stands, passes, comes_later], [25.0] * 3)
    assert [row[:2] for row in rows(found.contacts)] == [(0, 1), (1, 2)]
    its = turn(found, 100_000.0, 1, [(200_000.0, 0.0, 0.0)])
    assert rows(its) == rows(found.contacts) == [pytest.approx((0, 1, 75_000.0, 200_000.0))]
    assert found.contacts.censored.tolist() == [True]


@given(walks_of(), st.lists(st.floats(0.0, DURATION_MS), min_size=1, max_size=4))
@settings(max_examples=examples(40), deadline=None)
def test_facts_come_in_one_order_for_any_number_of_queries(
    walks: list[list[Point]], moments: list[float]
) -> None:
    found = courses(walks, [25.0] * 4)
    whole = found.contacts_until(DURATION_MS, cut=True)
    nodes, walked = found.motion_until(DURATION_MS, cut=True)
    assert rows(whole) == rows(found.contacts)
    assert sorted(whole.censored.tolist()) == sorted(found.contacts.censored.tolist())
    assert len(walked) == sum(map(len, found.walks))
    for moment in moments:
        some = found.contacts_until(moment)
        for name in Contacts.__slots__[:4]:
            assert getattr(some, name).tolist() == getattr(whole, name)[: len(some)].tolist()
        who, legs_then = found.motion_until(moment)
        assert who.tolist() == nodes[: len(who)].tolist()
        assert legs_then.end_ms.tolist() == walked.end_ms[: len(who)].tolist()


def test_what_is_cut_at_a_moment_reaches_it() -> None:
    walks = [[(0.0, 0.0, 0.0), (200_000.0, 0.0, 0.0)], [(0.0, -100.0, 0.0), (200_000.0, 100.0, 0.0)]]
    found = courses(walks, [25.0, 25.0])
    cut = found.contacts_until(80_000.0, cut=True)
    assert rows(cut) == [pytest.approx((0, 1, 75_000.0, 80_000.0))]
    assert cut.censored.tolist() == [True]
    nodes, walked = found.motion_until(80_000.0, cut=True)
    assert nodes.tolist() == [0, 1]
    assert walked.x1_m.tolist() == [0.0, -20.0]


@given(walks_of(), REACHES, REACHES, st.integers(1, 199_999), turns())
@settings(max_examples=examples(60), deadline=None)
def test_ranges_that_change_at_a_known_moment(
    walks: list[list[Point]],
    ranges: list[float],
    later: list[float],
    at_ms: int,
    changes: list[tuple[float, int, list[Point]]],
) -> None:
    planned = [legs(points) for points in walks]
    windows = [(0.0, ranges[: len(walks)]), (float(at_ms), later[: len(walks)])]
    found = Courses(planned, find_contacts_in_windows(planned, windows, DURATION_MS), windows, DURATION_MS)
    assert_same(rows(found.contacts), slow_in_windows(planned, ranges, later, float(at_ms)), slack=0.05)
    for moment, who, way in changes:
        turn(found, moment, who % len(walks), way)
    assert_same(rows(found.contacts), slow_in_windows(found.walks, ranges, later, float(at_ms)), slack=0.05)


def slow_in_windows(
    walks: list[Legs], ranges: list[float], later: list[float], at_ms: float
) -> list[Interval]:
    """Return what the slow detector finds before and after a moment, put together."""
    before = slow([points_of(walk) for walk in walks], ranges)
    after = slow([points_of(walk) for walk in walks], later)
    pieces = [(a, b, begin, min(end, at_ms)) for a, b, begin, end in before if begin <= at_ms]
    pieces += [(a, b, max(begin, at_ms), end) for a, b, begin, end in after if end >= at_ms]
    merged: list[Interval] = []
    for a, b, begin, end in sorted(pieces):
        if merged and merged[-1][:2] == (a, b) and begin - merged[-1][3] <= 1e-6:
            merged[-1] = (a, b, merged[-1][2], max(end, merged[-1][3]))
        else:
            merged.append((a, b, begin, end))
    return merged
