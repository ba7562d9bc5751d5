"""Memory: a composer's results depend only on the set of notifications that it holds."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.board_vectors import NotificationVector, encode_notification
from plugins.composite.bounds import MOST_AN_END, MOST_AN_EVENT
from plugins.composite.composer import CompositeComposer
from plugins.composite.composites import decode_composite, encode_composite
from plugins.composite.results import results_of
from plugins.composite.search import search
from plugins.fuzzy.language import FUZZY
from tests.plugins.composite.letter_streams import COMPOSITE, compiled
from tests.plugins.composite.letter_streams import TABLE as SESSIONS
from tests.plugins.composite.oracle import Asked
from tests.plugins.composite.test_oracle import LAWS, Stream
from tests.plugins.composite.worlds import TABLE, asked, body_of, streams
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading

ALWAYS = (-(10**12), 10**12)
D, S, L = 0, 1, 2


def told(number: int, stamp_s: int, status: int, *, address: int = 0) -> bytes:
    return encode_notification(
        NotificationVector(number, 95, stamp_s, 0, bytes((status, address)), 3, (0, 1))
    )


def new(pattern: str, attributes: str = 'window="PT10M"') -> CompositeComposer:
    composer = COMPOSITE.composer(SESSIONS)
    composer.add((2, 1), compiled(pattern, attributes), 0, *ALWAYS)
    return composer


def ends(made) -> list[tuple[int, int]]:
    return [(found.source, found.number) for found in (decode_composite(one.vector) for one in made)]


def identities(composer: CompositeComposer, readings: Stream, **options) -> set[bytes]:
    found = set()
    for place, (seen, vector) in readings:
        item = seen.source << 32 | place
        for made in composer.feed(item, 1, vector, 1000 * seen.second, 0, **options):
            found |= {result.identity for result in results_of(made.vector)}
    return found


@LAWS
@given(asked(), streams(sources=2, has_key=True), st.integers(0, 99), st.sampled_from(("ends", "all")))
def test_order_repetition_forgetting_and_later_subscriptions(
    wanted: Asked, readings: Stream, seed: int, select: str
) -> None:
    body, _ = body_of(wanted, has_key=True, select=select)
    numbered = list(enumerate(readings))
    usual = CompositeComposer(TABLE, FUZZY.matcher)
    usual.add((9, 1), body, 0, *ALWAYS)
    expected = identities(usual, numbered)

    shuffled = random.Random(seed).sample(numbered, len(numbered))
    forgetful = CompositeComposer(TABLE, FUZZY.matcher)
    forgetful.add((9, 1), body, 0, *ALWAYS)
    found = identities(forgetful, shuffled)
    for place, (seen, _) in shuffled[::2]:
        forgetful.forget(seen.source << 32 | place)
    found |= identities(forgetful, shuffled)
    assert found == expected

    late = CompositeComposer(TABLE, FUZZY.matcher)
    late.add((9, 2), body, 0, *ALWAYS)
    identities(late, numbered)
    late.add((9, 1), body, 0, *ALWAYS)
    assert set(identities(late, shuffled, only=(9, 1))) == expected


@LAWS
@given(st.lists(asked(most=3), min_size=2, max_size=4), streams(sources=2), st.data())
def test_together_they_find_what_each_finds_alone(all_wanted: list[Asked], readings: Stream, data) -> None:
    bodies = [body_of(wanted)[0] for wanted in all_wanted]
    together = CompositeComposer(TABLE, FUZZY.matcher)
    for number, body in enumerate(bodies):
        together.add((9, number), body, 0, *ALWAYS)
    gone = data.draw(st.integers(0, len(bodies) - 1))
    replaced = data.draw(st.integers(0, len(bodies) - 1))
    together.remove((9, gone))
    together.add((9, replaced), bodies[gone], 1, *ALWAYS)
    expected = set()
    for number, body in enumerate(bodies):
        if number == gone != replaced:
            continue
        alone = CompositeComposer(TABLE, FUZZY.matcher)
        is_new = number == replaced
        alone.add((9, number), bodies[gone] if is_new else body, int(is_new), *ALWAYS)
        expected |= identities(alone, list(enumerate(readings)))
    assert identities(together, list(enumerate(readings))) == expected


def test_a_reading_in_several_notifications_is_one_event() -> None:
    composer = new("d; s")
    address_only = encode_notification(NotificationVector(0, 95, 10, 0, bytes((0,)), 3, (1,)))
    assert composer.feed(3 << 32 | 1, 1, address_only, 10_000, 0) == []
    composer.feed(3 << 32 | 2, 1, told(0, 10, D), 10_300, 0)
    made = composer.feed(3 << 32 | 3, 1, told(1, 20, S), 20_000, 0)
    assert ends(made) == [(3, 1)]
    assert composer.feed(3 << 32 | 4, 1, told(1, 20, S), 20_400, 0) == []


def test_what_is_wanted_and_of_which_parts_it_is_made() -> None:
    composer = new("d; s")
    composer.feed(3 << 32 | 1, 1, told(0, 10, D), 10_000, 0)
    composer.feed(3 << 32 | 2, 1, told(1, 12, L), 12_000, 0)
    [made] = composer.feed(3 << 32 | 3, 1, told(2, 20, S), 20_000, 0)
    assert composer.wanted_by(3 << 32 | 1) == {2: 255}
    assert composer.wanted_by(3 << 32 | 2) == {}
    assert composer.parts_of(made.vector) == (3 << 32 | 1, 3 << 32 | 3)
    composer.forget(3 << 32 | 1)
    assert composer.parts_of(made.vector) is None
    assert composer.wanted_by(3 << 32 | 1) == {}


def test_restarted_clock_begins_another_stream() -> None:
    composer = new("d; s")
    composer.feed(3 << 32 | 1, 1, told(7, 500, D), 500_000, 0)
    restarted = composer.feed(3 << 32 | 2, 1, told(8, 5, S), 700_000, 0)
    assert ends(restarted) == []
    assert composer.further_runs == 1
    again = composer.feed(3 << 32 | 3, 1, told(7, 2, D), 697_000, 0)
    assert ends(again) == [(3, 8)]


def test_a_notification_between_two_runs_joins_them() -> None:
    composer = new("d; s")
    composer.feed(3 << 32 | 1, 1, told(0, 10, D), 10_000, 0)
    assert composer.feed(3 << 32 | 2, 1, told(1, 20, S), 130_000, 0) == []
    joined = composer.feed(3 << 32 | 3, 1, told(9, 30, D), 85_000, 0)
    assert ends(joined) == [(3, 1)]
    composer.forget(3 << 32 | 3)
    assert composer.further_runs == 1


def test_stamps_and_numbers_go_over_their_ends() -> None:
    composer = new("d, s", 'window="PT1M"')
    composer.feed(3 << 32 | 1, 1, told(65_535, 65_530, D), 65_530_000, 0)
    assert ends(composer.feed(3 << 32 | 2, 1, told(0, 4, S), 65_540_000, 0)) == [(3, 0)]


def test_only_events_in_force_count() -> None:
    body = compiled("d; s")
    for since_s, until_s, expected in ((0, 21, 1), (11, 21, 0), (0, 20, 0), (10, 21, 1)):
        composer = COMPOSITE.composer(SESSIONS)
        composer.add((2, 1), body, 0, 1000 * since_s, 1000 * until_s)
        composer.feed(3 << 32 | 1, 1, told(0, 10, D), 10_000, 0)
        made = composer.feed(3 << 32 | 2, 1, told(1, 20, S), 20_000, 0)
        assert len(made) == expected


def test_a_renewal_keeps_what_is_remembered_and_a_revision_does_not() -> None:
    composer = new("d; s")
    composer.feed(3 << 32 | 1, 1, told(0, 10, D), 10_000, 0)
    composer.add((2, 1), compiled("d; s"), 0, 0, 10**12)
    assert len(composer.feed(3 << 32 | 2, 1, told(1, 20, S), 20_000, 0)) == 1
    composer.add((2, 1), compiled("d; s"), 1, 0, 10**12)
    assert composer.feed(3 << 32 | 3, 1, told(2, 21, S), 21_000, 0) == []
    again = [
        made
        for item, vector, at in ((1, told(0, 10, D), 10_000), (2, told(1, 20, S), 20_000))
        for made in composer.feed(3 << 32 | item, 1, vector, at, 0, only=(2, 1))
    ]
    assert {decode_composite(one.vector).revision for one in again} == {1}


def test_quiet_reports_one_match_per_interval_and_key() -> None:
    attributes = 'window="PT10M" key="address" quiet="code:48"'
    composer = new("d; s", attributes)
    made = []
    for number, (second, status, address) in enumerate(
        ((1, D, 1), (2, S, 1), (3, S, 1), (4, D, 2), (5, S, 2), (70, S, 1))
    ):
        vector = told(number, second, status, address=address)
        made += composer.feed(3 << 32 | number, 1, vector, 1000 * second, 0)
    assert ends(made) == [(3, 1), (3, 4), (3, 5)]
    assert len({results_of(one.vector)[0].identity for one in made}) == 3


def test_quiet_does_not_count_classes_apart() -> None:
    """Two ends of different classes in one piece of time are one composite."""
    body, _ = body_of(Asked(("or", ("leaf", 0), ("leaf", 2)), window=60), quiet_q=48)
    composer = CompositeComposer(TABLE, FUZZY.matcher)
    composer.add((9, 1), body, 0, *ALWAYS)
    made = []
    for second, cls in ((1, 0), (2, 1), (70, 1), (71, 0)):
        vector = encode_notification(NotificationVector(0, 95, second, 0, bytes((20, 7)), cls, (0, 1), 1))
        made += composer.feed(3 << 32 | second, 1, vector, 1000 * second, 0)
    assert [decode_composite(one.vector).stamp_s for one in made] == [1, 70]
    there = [decode_composite(one.vector) for one in made]
    for one in there:
        one.event = 1 - one.event
    swapped = [encode_composite(one, 1) for one in there]
    known = [results_of(vector)[0].identity for vector in (*(one.vector for one in made), *swapped)]
    assert known[:2] == known[2:]
    assert known[0] != known[1]


def test_an_earlier_clock_completes_what_it_is_not_a_part_of() -> None:
    """A notification that matches nothing shows that its source's clock is earlier than it seemed."""
    composer = new("d; s", 'window="PT10M" scope="any"')
    assert composer.feed(3 << 32 | 1, 1, told(0, 10, D), 30_000, 0) == []
    assert composer.feed(4 << 32 | 1, 1, told(0, 500, S), 25_000, 0) == []
    assert ends(composer.feed(3 << 32 | 2, 1, told(1, 40, D), 50_000, 0)) == [(4, 0)]


def test_an_event_below_the_threshold_ends_nothing() -> None:
    body, _ = body_of(Asked(("then", ("leaf", 0), ("leaf", 0)), window=60, least=17 * 13))
    composer = CompositeComposer(TABLE, FUZZY.matcher)
    composer.add((9, 1), body, 0, *ALWAYS)
    made = []
    for number, value in enumerate((20, 30, 95)):
        vector = NotificationVector(number, 95, number, 0, bytes((value, 0)), 0, (0, 1))
        made += composer.feed(3 << 32 | number, 1, encode_notification(vector), 1000 * number, 0)
    assert composer.wanted_by(3 << 32 | 2) == {}
    assert ends(made) == [(3, 1)]


@pytest.mark.parametrize("pattern", ["d; s", "d, s", "d and s", "d; l; s"])
def test_a_window_ends_with_its_last_second(pattern: str) -> None:
    for later, expected in ((60, 1), (61, 0)):
        composer = new(pattern, 'window="PT1M"')
        made = []
        letters = [(0, D), (1, L), (later, S)] if "l" in pattern else [(0, D), (later, S)]
        for number, (second, status) in enumerate(letters):
            made += composer.feed(3 << 32 | number, 1, told(number, second, status), 1000 * second, 0)
        assert len(made) == expected


def test_a_source_that_counts_too_quickly_is_counted() -> None:
    composer = new("d; s", 'window="PT1H"')
    for number, second in ((0, 10), (5, 11), (40, 12), (60, 20)):
        composer.feed(3 << 32 | number, 1, told(number, second, D), 1000 * second, 0)
    assert composer.too_fast == 1


def test_first_is_left_to_its_source() -> None:
    composer = new("d; s", 'window="PT10M" select="first"')
    composer.feed(3 << 32 | 1, 1, told(0, 10, D), 10_000, 0)
    assert composer.feed(3 << 32 | 2, 1, told(1, 20, S), 20_000, 0) == []
    assert COMPOSITE.parts(SESSIONS)(compiled("d; s", 'window="PT10M" select="first"')) == ()


def test_an_event_that_ends_nothing_causes_no_search() -> None:
    composer = new("d; s")
    for number in range(50):
        composer.feed(3 << 32 | number, 1, told(number, number, D), 1000 * number, 0)
    assert composer.finder.searches == 0


def test_large_origins_have_four_bytes() -> None:
    composer = COMPOSITE.composer(SESSIONS)
    composer.add((0x7FFF_FFFF, 1), compiled("d; s"), 0, *ALWAYS)
    composer.feed(70_000 << 32 | 1, 1, told(0, 10, D), 10_000, 0)
    [made] = composer.feed(70_000 << 32 | 2, 1, told(1, 20, S), 20_000, 0)
    found = decode_composite(made.vector)
    assert (found.subscriber, found.source) == (0x7FFF_FFFF, 70_000)


def test_with_scope_any_the_least_late_notification_sets_a_clock() -> None:
    composer = new("d; s", 'window="PT10M" scope="any"')
    assert composer.feed(3 << 32 | 1, 1, told(0, 10, D), 30_000, 0) == []
    assert ends(composer.feed(4 << 32 | 1, 1, told(0, 500, S), 25_000, 0)) == []
    sooner = composer.feed(3 << 32 | 2, 1, told(1, 11, D), 21_000, 0)
    assert ends(sooner) == [(4, 0)]
    [made] = composer.feed(4 << 32 | 2, 1, told(1, 501, S), 26_000, 0)
    assert [one.seconds_before for one in decode_composite(made.vector).witness] == [5, 0]


@LAWS
@given(asked(), streams(), st.sampled_from((False, True)))
def test_every_part_of_a_match_passes_the_filter_of_boards(
    wanted: Asked, readings: Stream, has_key: bool
) -> None:
    """From the bytes alone: what the parts let pass is enough for every match."""
    body, _ = body_of(wanted, has_key=has_key)
    whole, of_parts = (CompositeComposer(TABLE, FUZZY.matcher) for _ in range(2))
    board = FuzzyFilter(1)
    for number, part in enumerate(COMPOSITE.parts(TABLE)(body)):
        board.add((9, 2 + number), bytes(3) + part.body)
    for composer in (whole, of_parts):
        composer.add((9, 1), body, 0, *ALWAYS)
    released = []
    for place, (seen, vector) in enumerate(readings):
        reading = Reading(1)
        reading.clear(seen.cls, seen.number, seen.second)
        reading.set(0, vector[6])
        reading.set(1, vector[7])
        released += [(10 * place + at, (seen, one.vector)) for at, one in enumerate(board.feed(reading))]
    expected = identities(whole, list(enumerate(readings)))
    assert identities(of_parts, released) == expected


def test_what_all_leaves_out_is_counted_exactly_in_order() -> None:
    """One that comes late is counted by what it completes itself, so that nothing is looked for twice."""
    composer = new("d; d; s", 'window="PT10M" select="all"')
    made = 0
    for number, status in [(number, D) for number in range(20)] + [(20, S), (21, S)]:
        made += len(composer.feed(3 << 32 | number, 1, told(number, number, status), 1000 * number, 0))
    assert made == 2 * 64
    assert composer.left_out == 2 * (20 * 19 // 2 - 64)
    composer.forget(3 << 32 | 20)
    assert composer.left_out == 20 * 19 // 2 - 64
    composer.remove((2, 1))
    assert composer.left_out == 0


def test_no_end_is_reported_more_often_than_its_bound_in_any_order() -> None:
    composer = new("d; s", 'window="PT10M" select="all"')
    composer.feed(3 << 32 | 200, 1, told(200, 200, S), 200_000, 0)
    made = 0
    for number in random.Random(1).sample(range(100), 100):
        made += len(composer.feed(3 << 32 | number, 1, told(number, number, D), 1000 * number, 0))
    assert made == 64
    assert composer.left_out == 100 - 64


def test_what_multiplies_without_end_is_counted_up_to_a_bound() -> None:
    composer = new("d; d; d; d; s", 'window="PT10M" select="all"')
    for number in range(20):
        composer.feed(3 << 32 | number, 1, told(number, number, D), 1000 * number, 0)
    assert len(composer.feed(3 << 32 | 20, 1, told(20, 20, S), 20_000, 0)) == 64
    assert composer.left_out == 4_096 - 64


@pytest.mark.parametrize(("pattern", "count"), [("d; s", 800), ("d; s; s", 100)])
def test_late_event_reports_a_bounded_number_and_visits_nothing_twice(
    pattern: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0
    latest_below = search.Candidates.latest_below

    def counted(given: search.Candidates, leaf: int, at: int, cut: int) -> int:
        nonlocal steps
        steps += 1
        return latest_below(given, leaf, at, cut)

    monkeypatch.setattr(search.Candidates, "latest_below", counted)
    composer = new(pattern, 'window="PT1H" select="all"')
    for number in range(count):
        assert composer.feed(3 << 32 | number, 1, told(number + 9, number + 9, S), 1000 * number, 0) == []
    for late in range(3):
        steps = 0
        made = composer.feed(3 << 32 | count + late, 1, told(8 - late, 8 - late, D), -1000 * (1 + late), 0)
        assert count <= len(made) + composer.left_out
        assert 700 <= len(made) <= MOST_AN_EVENT + MOST_AN_END
        assert steps <= 20 * len(made)


def test_alternatives_that_cannot_be_better_are_not_searched() -> None:
    composer = new("; ".join(["(d or s)"] * 6))
    for number in range(40):
        before = composer.finder.searches
        made = composer.feed(3 << 32 | number, 1, told(number, number, number % 2), 1000 * number, 0)
        assert len(made) == (number >= 5)
    assert composer.finder.searches - before <= 2
