"""What is expected of a level is the mean over all batches and all orders of arrival, counted out."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.boxes.profile import Prices, Profile, expected, replayed, together
from tests.sizes import examples

events = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 30)), min_size=2, max_size=5)


def profile(rows: list[tuple[int, int, int]]) -> Profile:
    """Return two levels of events (workload, spent, left) at the second."""
    workloads, spent, left = (np.array(column) for column in zip(*rows, strict=True))
    nothing = np.zeros_like(spent)
    return Profile(
        np.stack([nothing + 1, workloads], axis=1),
        np.stack([nothing, spent], axis=1),
        np.stack([spent + left, left], axis=1),
    )


@given(events, st.integers(2, 5), st.floats(0.1, 3), st.floats(0, 20))
@settings(max_examples=examples(40))
def test_expected_is_the_mean_over_all_batches_and_orders(
    rows: list[tuple[int, int, int]], size: int, kappa: float, phi: float
) -> None:
    size, prices = min(size, len(rows)), Prices(kappa, phi)
    every = [replayed(profile(list(batch)), prices) for batch in permutations(rows, size)]
    assert expected(profile(rows), size, prices) == pytest.approx(np.mean(every, axis=0).tolist())


def test_batches_are_joined_event_by_event() -> None:
    one, other = profile([(1, 2, 3)]), profile([(4, 5, 6), (7, 8, 9)])
    both = together([one, other])
    assert (len(both), both.height) == (3, 2)
    assert both.workloads[:, 1].tolist() == [1, 4, 7]
    assert both.left.tolist() == [[5, 3], [11, 6], [17, 9]]
