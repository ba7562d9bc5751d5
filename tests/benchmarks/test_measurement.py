"""A line with a goal holds or not; one without is a figure."""

import pytest

from benchmarks.measurement import alone, at_least, at_most, beside


def test_a_goal_is_reached_or_not() -> None:
    assert at_least("more", 3.0, 2.0, 1.5).holds is True
    assert at_least("more", 2.9, 2.0, 1.5).holds is False
    assert at_most("less", 3.0, 2.0, 1.5).holds is True
    assert at_most("less", 3.1, 2.0, 1.5).holds is False


def test_a_figure_holds_nothing() -> None:
    assert (beside("figure", 3.0, 2.0).ratio, beside("figure", 3.0, 2.0).holds) == (1.5, None)
    assert (alone("figure", 3.0).goal, alone("figure", 3.0).holds) == (None, None)


@pytest.mark.parametrize("measure", [at_least, at_most])
def test_a_goal_that_anything_reaches_is_none(measure: object) -> None:
    for goal in (0.0, -1.0):
        with pytest.raises(ValueError, match="a goal has to be above 0"):
            (at_least if measure is at_least else at_most)("nothing", 1.0, 1.0, goal)
