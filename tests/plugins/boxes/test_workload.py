"""What an order of events costs: golden figures, and the least of all orders."""

from fractions import Fraction
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from plugins.boxes.workload import (
    average_response,
    completions,
    gini,
    order_by_workload,
    perfect_response,
    random_order_response,
)


def test_golden_order() -> None:
    work, workloads = [9, 1, 4, 2], [3, 1, 2, 1]
    order = order_by_workload(workloads)
    assert [position + 1 for position in order] == [2, 4, 3, 1]
    assert completions(work, order, estimate=2) == [3, 5, 9, 18]
    assert average_response(work, order, estimate=2) == Fraction("8.75")
    assert random_order_response(work) == 10
    assert perfect_response(work) == Fraction("6.75")
    assert gini(work) == Fraction(13, 32)
    assert (average_response([], []), random_order_response([]), gini([])) == (0, 0, 0)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6))
def test_the_perfect_order_is_the_least_of_all_and_follows_from_the_gini_coefficient(work: list[int]) -> None:
    every = [average_response(work, order) for order in permutations(range(len(work)))]
    assert perfect_response(work) == min(every)
    assert random_order_response(work) == Fraction(sum(every), len(every))
    if sum(work):
        b = len(work)
        assert perfect_response(work) / random_order_response(work) == 1 - gini(work) * b / (b + 1)
