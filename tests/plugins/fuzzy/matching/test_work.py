"""What the algorithms count is what figure 5 of the paper counts."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens_experiments.fuzzy.workload import WORKLOADS
from plugins.board_vectors import decode_body
from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.matching.algorithms import ALGORITHMS
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.fnifc import CoveringMatcher
from plugins.fuzzy.matching.relational_pairs import pairs_in, relational_pairs
from plugins.fuzzy.matching.shared import SharedMatcher
from plugins.fuzzy.patterns import short_form
from plugins.language import Matcher, SubscriptionKey
from plugins.matching_work import MatchingWork, work_of
from tests.plugins.fuzzy.matching import work_oracle
from tests.plugins.fuzzy.matching.populations import histories, near_notifications
from tests.plugins.fuzzy.matching.test_laws import grown
from tests.plugins.fuzzy.matching.work_oracle import Asked, Wish, Wishes
from tests.sizes import examples
from watchdog.header import body_of

PLAIN_OR_RULES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 15)
"""All but pattern_breakdown, whose pairs are judged below."""

settled = settings(max_examples=examples(60), deadline=None)
conditions = st.sampled_from(FEATURE_CONDITIONS)


def parents_of(matcher: Matcher, wishes: Wishes) -> dict[SubscriptionKey, SubscriptionKey | None]:
    assert isinstance(matcher, CoveringMatcher)
    return {key: matcher.forest.cover_of(key) for key in wishes}


def expected(name: str, matcher: Matcher, asked: Asked, wishes: Wishes) -> MatchingWork:
    if name == "fnifs":
        return work_oracle.in_order(asked, wishes)
    if name == "fnifc":
        return work_oracle.covered(asked, wishes, parents_of(matcher, wishes))
    if name == "fip":
        return work_oracle.indexed(asked, wishes)
    return work_oracle.flat(asked, wishes)


def counted(matcher: Matcher) -> MatchingWork:
    work = work_of(matcher)
    assert work is not None
    return work


@pytest.mark.parametrize("name", ["naive", "crisp", "fnif", "fnifs", "fnifc", "fip", "fast"])
@settled
@given(st.data())
def test_it_counts_the_steps_of_the_figure(name: str, data: st.DataObject) -> None:
    condition = data.draw(conditions)
    steps = data.draw(histories(PLAIN_OR_RULES))
    matcher = grown(ALGORITHMS[name](None, condition, 1), steps)
    wishes: dict[SubscriptionKey, Wish] = {}
    for verb, key, vector in steps:
        wishes.pop(key, None)
        if verb == "add":
            wishes[key] = Wish(vector)
    assert counted(matcher) == MatchingWork(), "holding subscriptions costs no matching"
    for _ in range(3):
        notification = data.draw(near_notifications().filter(lambda vector: vector[-1] < 128))
        before = counted(matcher).taken()
        matcher.match(notification, 0, 0)
        asked = Asked(notification, condition == "exact")
        assert counted(matcher).since(before) == expected(name, matcher, asked, wishes)


@pytest.mark.parametrize("make", [FastMatcher, SharedMatcher], ids=["fast", "shared"])
@settled
@given(st.data())
def test_in_columns_the_rows_are_the_candidates_however_they_are_searched(
    make: type[FastMatcher | SharedMatcher], data: st.DataObject
) -> None:
    condition = data.draw(conditions)
    steps = data.draw(histories(tuple(range(6))))
    columns = partial(make, columns_from=0) if make is FastMatcher else make
    by_numpy = grown(columns(None, condition), steps)
    by_numba = grown(columns(None, condition, compile_from=0), steps)
    held = {key: vector for _, key, vector in steps}
    wishes = [Wish(vector) for vector in held.values() if vector]
    told = data.draw(st.lists(near_notifications().filter(lambda vector: vector[-1] < 128), max_size=3))
    work = MatchingWork()
    for vector in told:
        asked = Asked(vector, condition == "exact")
        rows = [wish for wish in wishes if asked.fits(wish)]
        distinct = {(wish.vector[5] & 15, wish.vector[6:]) for wish in rows}
        work.rows += len(rows if make is FastMatcher else distinct)
        work.feature_tests += len({_group(wish) for wish in rows})
        by_numpy.match(vector, 0, 0)
    for _ in by_numba.match_batch([(vector, 0) for vector in told], 0):
        pass
    assert counted(by_numpy) == work
    assert counted(by_numba) == work


def _group(wish: Wish) -> tuple[int, ...]:
    """What those have in common that stand in the same columns."""
    flips = sum(1 << rank for rank, (*_, g) in enumerate(wish.predicates) if g & 128)
    return wish.event, wish.vector[-1], wish.vector[5] & 15, flips


def test_a_batch_searched_together_counts_as_one_by_one() -> None:
    told = WORKLOADS["every_attribute"].notifications(50, 1)
    one_by_one = FastMatcher(None, columns_from=0, compile_from=0)
    together = FastMatcher(None, columns_from=0, compile_from=0)
    for number, vector in enumerate(WORKLOADS["every_attribute"].subscriptions(200, 1)):
        one_by_one.add((0, number), body_of(vector))
        together.add((0, number), body_of(vector))
    from plugins.fuzzy.codec import FuzzyCodec
    from plugins.fuzzy.matching.notification_rows import read_rows

    rows = read_rows(FuzzyCodec(None, 1), [(vector, 0) for vector in told], 0)
    one_by_one.search.many(rows.rows, rows.events, rows.features, together=False)
    together.search.many(rows.rows, rows.events, rows.features, together=True)
    assert one_by_one.work == together.work
    assert one_by_one.work.rows == 50 * 200


@pytest.mark.parametrize(
    ("text", "predicates", "pairs"),
    [
        ("d2c1", 3, 1),
        ("c2d1", 3, 1),
        ("d2c2c", 4, 2),
        ("c3d1", 4, 3),
        ("c12d", 3, 1),
        ("d3c1", 4, 3),
        ("d4c2c", 6, 7),
    ],
)
def test_a_pattern_relates_the_pairs_within_its_groups(text: str, predicates: int, pairs: int) -> None:
    assert pairs_in(short_form(text, list(range(predicates)))) == pairs


def test_a_pattern_that_is_not_broken_down_relates_none() -> None:
    broken = bytes([0, 0, 0, 0, 0, 14, 1, 0x82]) + b"\x64\xc8\x7f" * 4 + b"\x01\x0f"
    assert relational_pairs(decode_body(body_of(broken))) == 2
    exact = bytes([*broken[:5], 15]) + broken[6:]
    assert relational_pairs(decode_body(body_of(exact))) == 0


def test_the_work_of_figure_7_at_a_thousand_subscriptions() -> None:
    """40 distinct ones of 3 or 4 attributes, every attribute given: features save nothing, covering does."""
    found = {}
    workload = WORKLOADS["every_attribute"]
    for name in ("fnif", "fnifs", "fnifc", "fip"):
        matcher = ALGORITHMS[name](None, "subset", 1)
        for number, vector in enumerate(workload.subscriptions(1000, 1)):
            matcher.add((number >> 8, number & 255), body_of(vector))
        for vector in workload.notifications(20, 1):
            matcher.match(vector, 0, 0)
        found[name] = counted(matcher)
    assert (found["fnif"].feature_tests, found["fnif"].memberships) == (20 * 1000, 20 * 3447)
    assert found["fnifs"] == found["fnif"]
    assert (found["fnifc"].feature_tests, found["fnifc"].memberships) == (20 * 40, 20 * 138)
    assert found["fip"].memberships == 20 * 138
    assert 900 < found["fip"].feature_tests / 20 < 1000, "nearly everybody has some satisfied predicate"
