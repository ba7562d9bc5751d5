"""What composing costs, in units of work: it grows with what is held no faster than that itself, and a limit
ends a call without losing what it found.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.composite.composer import CompositeComposer
from plugins.composite.composites import decode_composite
from plugins.fuzzy.language import FUZZY
from plugins.work import WorkExceeded, WorkMeter
from tests.plugins.composite.letter_streams import COMPOSITE, compiled
from tests.plugins.composite.letter_streams import TABLE as SESSIONS
from tests.plugins.composite.oracle import Asked
from tests.plugins.composite.test_composer import ALWAYS, D, S, ends, new, told
from tests.plugins.composite.test_oracle import LAWS, Stream
from tests.plugins.composite.worlds import TABLE, asked, body_of, streams

SIZES = (60, 120, 240)
NEVER = "(d and d), (d and d), (d and d), (d and d); d; d; d; d @(t12 - t11 in PT1S..PT1S)"
"""64 alternatives; no two readings lie one second apart, so nothing ever matches."""
NEVER_INSIDE = "(d or d); (d or d); (d or d); (d or d); (d or d); d; d @(t12 - t11 in PT1S..PT1S); (d or d)"
APART_S = 2


def fed(
    composer: CompositeComposer, source: int, number: int, status: int = D, apart_s: int = APART_S
) -> int:
    """Feed one reading; return how much work it took."""
    before = composer.work
    second = apart_s * number
    composer.feed(source << 32 | number, 1, told(number, second, status), 1000 * second, 0)
    return composer.work - before


def grows_no_faster(work: list[int], most: float = 2.4) -> bool:
    """Return whether doubling what is held at most doubles the work, and a little."""
    return all(later <= most * max(earlier, 20) for earlier, later in pairwise(work))


@pytest.mark.parametrize("pattern", [NEVER, NEVER_INSIDE])
def test_one_late_reading_costs_no_more_than_what_is_held(pattern: str) -> None:
    work = []
    for size in SIZES:
        composer = new(pattern, 'window="PT1H"')
        for number in range(1, size + 1):
            fed(composer, 3, number)
        work.append(fed(composer, 3, 0))
    assert grows_no_faster(work), work


def test_readings_in_order_and_a_restart_cost_no_more_than_what_is_held() -> None:
    work = []
    for size in SIZES:
        composer = new(NEVER, 'window="PT1H"')
        for number in range(size):
            fed(composer, 3, number)
        work.append(composer.work)
    assert grows_no_faster(work), work


@pytest.mark.parametrize("apart_s", [1, 2])
def test_readings_that_come_newest_first_cost_no_more_than_what_is_held(apart_s: int) -> None:
    work = []
    for size in (*SIZES, 480):
        composer = new("d; d @(t2 - t1 in PT1S..PT1S)", 'window="PT1H"')
        for number in reversed(range(size)):
            fed(composer, 3, number, apart_s=apart_s)
        work.append(composer.work)
    assert grows_no_faster(work), work


def test_a_reading_among_many_sources_costs_no_more_than_there_are() -> None:
    """Newest readings, and late ones, of `(d, d); (d, d)` over all sources."""
    newest, late = [], []
    for sources in (30, 60, 120):
        composer = new("(d, d); (d, d)", 'window="PT1H" scope="any"')
        for source in range(1, sources + 1):
            for number in range(2):
                fed(composer, source, 2 * number + 1)
        newest.append(fed(composer, 1, 9))
        late.append(fed(composer, 2, 0))
    assert grows_no_faster(newest), newest
    assert grows_no_faster(late), late


def test_a_subscription_that_comes_later_costs_no_more_than_what_is_held() -> None:
    work = []
    for size in SIZES:
        composer = new("s", 'window="PT1H"')
        vectors = [told(number, APART_S * number, D) for number in range(size)]
        for number, vector in enumerate(vectors):
            composer.feed(3 << 32 | number, 1, vector, 1000 * APART_S * number, 0)
        composer.add((2, 2), compiled(NEVER, 'window="PT1H"'), 0, *ALWAYS)
        before = composer.work
        for number, vector in enumerate(vectors):
            composer.feed(3 << 32 | number, 1, vector, 1000 * APART_S * number, 0, only=(2, 2))
        work.append(composer.work - before)
    assert grows_no_faster(work), work


def test_equal_alternatives_are_searched_once() -> None:
    composers = [new(pattern, 'window="PT1H"') for pattern in ("d; d; s", "(d or d or d); (d or d); s")]
    for composer in composers:
        for number in range(20):
            fed(composer, 3, number)
        fed(composer, 3, 20, S)
    assert composers[0].work == composers[1].work > 0


def test_a_meter_stops_past_its_limit() -> None:
    meter = WorkMeter(5)
    meter.spend(5)
    with pytest.raises(WorkExceeded):
        meter.spend(1)
    assert meter.spent == 6


def test_a_limit_holds_for_one_call_and_what_was_found_is_found_again() -> None:
    composer = new("d; s", 'window="PT1H"')
    for number in range(1, 40):
        fed(composer, 3, number, S)
    composer.work_limit = 60
    before = composer.work
    with pytest.raises(WorkExceeded):
        fed(composer, 3, 0)
    assert 60 < composer.work - before <= 60 + 64
    composer.work_limit = None
    made = composer.feed(3 << 32 | 99, 1, told(65_535, 0, D), 0, 0)
    assert ends(made) == [(3, number) for number in range(1, 40)]


@LAWS
@given(asked(), streams(sources=2), st.integers(0, 60), st.sampled_from(("ends", "all")))
def test_limit_loses_nothing_that_a_rebuilt_subscription_finds(
    wanted: Asked, readings: Stream, limit: int, select: str
) -> None:
    """A call that reached its limit leaves the composer as sound as it was."""
    body, _ = body_of(wanted, select=select)
    limited, usual = (CompositeComposer(TABLE, FUZZY.matcher) for _ in range(2))
    found: list[set[bytes]] = [set(), set()]
    for composer in (limited, usual):
        composer.add((9, 1), body, 0, *ALWAYS)
    limited.work_limit = limit
    for place, (seen, vector) in enumerate(readings):
        item = seen.source << 32 | place
        for number, composer in enumerate((limited, usual)):
            try:
                made = composer.feed(item, 1, vector, 1000 * seen.second, 0)
            except WorkExceeded:
                continue
            found[number].update(_identity(one.vector) for one in made)
    assert found[0] <= found[1]
    limited.work_limit = None
    limited.add((9, 1), body, 1, *ALWAYS)
    again = set()
    for place, (seen, vector) in enumerate(readings):
        item = seen.source << 32 | place
        made = limited.feed(item, 1, vector, 1000 * seen.second, 0, only=(9, 1))
        again.update(_identity(one.vector) for one in made)
    assert again == found[1]


def _identity(vector: bytes) -> bytes:
    one = decode_composite(vector)
    witness = tuple((told.leaf, told.number) for told in one.witness) if one.is_each else ()
    return repr((one.source, one.event, one.number, one.stamp_s, witness)).encode()


def test_work_is_counted_alike_by_everybody() -> None:
    """The same readings cost the same, whoever counts."""
    work = set()
    for _ in range(2):
        composer = COMPOSITE.composer(SESSIONS)
        composer.add((2, 1), compiled("d; (s and l)", 'window="PT1H"'), 0, *ALWAYS)
        for number in (3, 1, 0, 2, 5, 4):
            fed(composer, 3, number, number % 3)
        work.add(composer.work)
    assert len(work) == 1
