"""The workloads have the paper's shares and attributes, and every form of them is well-formed."""

import math

import pytest

from dens_experiments.family import Request, UnknownFigure
from dens_experiments.fuzzy import workload
from dens_experiments.fuzzy.settings import settings_of, workload_of
from dens_experiments.fuzzy.workload import SIMILARITY, WORKLOADS, reading_of, similarity_at
from plugins.fuzzy.matching.algorithms import ALGORITHMS
from watchdog.breakdown import pair_value
from watchdog.header import body_of

PAPER = WORKLOADS["paper"]


def test_as_many_subscriptions_are_equal_as_the_paper_says() -> None:
    assert (SIMILARITY[100], SIMILARITY[500], SIMILARITY[1000]) == (0.6, 0.92, 0.96)
    for count, share in SIMILARITY.items():
        bodies = {vector[5:] for vector in PAPER.subscriptions(count, 1)}
        assert len(bodies) == round(count * (1 - share))


def test_shares_between_stated_ones_lie_between_them() -> None:
    shares = [similarity_at(count) for count in (1, 40, 60, 100, 150, 500, 900, 1000, 20_000)]
    assert shares == sorted(shares)
    assert similarity_at(100) == 0.6
    assert 0.6 < similarity_at(150) < 0.8
    assert similarity_at(20_000) == 0.96


@pytest.mark.parametrize("name", WORKLOADS)
def test_subscriptions_and_events_have_the_attributes_of_their_workload(name: str) -> None:
    load = WORKLOADS[name]
    least, most, of = load.attributes
    sizes = {vector[-1].bit_count() for vector in load.subscriptions(200, 3)}
    assert sizes == set(range(least, most + 1))
    assert all(vector[-1] < 1 << of for vector in load.subscriptions(200, 3))
    told = {vector[-1].bit_count() for vector in load.notifications(200, 3)}
    assert told == ({of} if load.stated == "all" else sizes)


def test_the_workload_before_is_drawn_as_before() -> None:
    """Its counts at a thousand are those that were reported of it: 3,447 memberships an event."""
    vectors = WORKLOADS["every_attribute"].subscriptions(1000, 1)
    assert sum(vector[-1].bit_count() for vector in vectors) == 3447


def test_seeds_differ_and_repeat() -> None:
    assert PAPER.subscriptions(50, 1) == PAPER.subscriptions(50, 1) != PAPER.subscriptions(50, 2)
    assert PAPER.notifications(5, 1) == PAPER.notifications(5, 1) != PAPER.notifications(5, 2)


def test_every_form_is_well_formed_and_some_events_satisfy_it() -> None:
    forms = (workload.MIN, workload.PATTERN, workload.FIRST_ORDER, workload.ZERO_ORDER, workload.GENERATED)
    for form in forms:
        matcher = ALGORITHMS["fnif"](None, "exact", 1)
        for number, vector in enumerate(PAPER.subscriptions(60, 1, form)):
            matcher.add((0, number), body_of(vector))
        assert any(matcher.match(told, 0, 0) for told in PAPER.notifications(40, 1))


def test_narrow_subscriptions_satisfy_hardly_anybody_in_any_form() -> None:
    narrow = WORKLOADS["wide"].for_forms(workload.PATTERN)
    assert narrow.attributes == (3, 4, 7)
    for form in (workload.MIN, workload.PATTERN, workload.FIRST_ORDER):
        matcher = ALGORITHMS["fnif"](None, "exact", 1)
        for number, vector in enumerate(narrow.subscriptions(100, 1, form)):
            matcher.add((0, number), body_of(vector))
        found = sum(len(matcher.match(told, 0, 0)) for told in narrow.notifications(100, 1))
        assert found < 0.01 * 100 * 100


@pytest.mark.parametrize(("form", "order"), [(workload.ZERO_ORDER, 0), (workload.FIRST_ORDER, 1)])
def test_the_rules_of_the_root_come_near_it(form: workload.Form, order: int) -> None:
    table = form.block[2:]
    for a in range(26, 256, 7):
        for b in range(26, 256, 11):
            found = pair_value(table, 0, 1 + table[0], order, a, b)
            assert abs(found - math.sqrt(a * b)) < 0.03 * 255


def test_reading_and_its_notification_have_the_same_values() -> None:
    reading = reading_of(bytes(6) + b"\x0a\x0b\x0c" + b"\x01" + b"\x0d")
    assert [reading.row[index] for index in (0, 2, 3)] == [10, 11, 12]
    assert [reading.has(index) for index in range(4)] == [True, False, True, True]


def test_options_change_a_workload() -> None:
    options = Request(workload="wide", attributes=(2, 3, 5), condition="subset", similarity=0.25)
    found = workload_of(options)
    assert (found.attributes, found.condition, found.similarity) == ((2, 3, 5), "subset", 0.25)
    assert len({vector[5:] for vector in found.subscriptions(40, 1)}) == 30
    small = settings_of(Request(small=True, seeds=(9,), repetitions=4))
    assert (small.seeds, small.repetitions) == ((9,), 4)
    assert len(small.counts) < len(settings_of(Request()).counts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Request(workload="papers"), "workload 'papers' is unknown; there are: paper, wide, every_attribute"),
        (Request(condition="xor"), "condition 'xor' is unknown; there are: subset, exact"),
        (Request(attributes=(3, 2, 4)), "attributes 3-2/4 cannot be drawn"),
        (Request(attributes=(1, 8, 8)), "attributes 1-8/8 cannot be drawn"),
        (Request(similarity=1.0), "similarity 1 is not a share"),
        (Request(counts=(0,)), "0 subscriptions cannot be measured"),
        (Request(counts=(100_000,)), "100000 subscriptions cannot be measured"),
    ],
)
def test_values_that_mean_nothing_are_refused(options: Request, message: str) -> None:
    with pytest.raises(UnknownFigure) as refused:
        settings_of(options)
    assert str(refused.value).startswith(message)
