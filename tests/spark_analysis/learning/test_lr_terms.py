"""Terms with sides of their own: read off a density that has one peak."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.vocabulary.terms import Lr
from plugins.curves import domain_values, fuzzifier_curve
from plugins.registry import term_fault
from spark_analysis.learning.lr_terms import lr_fitted
from spark_analysis.learning.terms import learn_terms
from tests.spark_analysis.learning.test_learning import HEART_RATE, counted, three_hills

VALUES = domain_values(HEART_RATE)
STEP = float(VALUES[1] - VALUES[0])


@given(st.integers(30, 120), st.integers(0, 60), st.integers(4, 29), st.integers(4, 60))
def test_a_trapezoid_is_found_again(first: int, width: int, left: int, right: int) -> None:
    """Where a density is a term already, its core is wider by a tenth of each side, and its halves are it."""
    lower, upper = float(VALUES[first]), float(VALUES[first + width])
    drawn = fuzzifier_curve(Lr(lower, upper, left * STEP, right * STEP), VALUES)
    found = lr_fitted(drawn, HEART_RATE)
    shape = found.written["lr"]
    assert lower - 0.1 * left * STEP - 0.1 <= shape["lower"] <= lower + 0.1
    assert upper - 0.1 <= shape["upper"] <= upper + 0.1 * right * STEP + 0.1
    assert abs((shape["lower"] - shape["left"] / 2) - (lower - left * STEP / 2)) <= 0.2
    assert abs((shape["upper"] + shape["right"] / 2) - (upper + right * STEP / 2)) <= 0.2
    assert found.deviation <= 0.16
    assert found.deviation == np.abs(found.curve - drawn).max()


def test_sides_differ_where_the_values_do() -> None:
    chance = np.random.default_rng(3)
    steep, flat = 120 - chance.exponential(8, 8000), 120 + chance.exponential(40, 40_000)
    values = np.clip(np.concatenate([steep, flat]), 0, 255).astype(int).tolist()
    [term] = learn_terms(counted(values), HEART_RATE, ["usual"], "lr")
    assert term.written["lr"]["right"] > 1.5 * term.written["lr"]["left"] > 0


def test_the_outer_terms_have_no_outer_end_and_every_language_can_say_them() -> None:
    learnt = learn_terms(counted(three_hills()), HEART_RATE, ["low", "normal", "high"], "lr")
    low, normal, high = (term.written["lr"] for term in learnt)
    assert "lower" not in low
    assert "upper" not in high
    assert {"lower", "upper", "left", "right"} <= normal.keys()
    assert all(term.deviation < 0.25 for term in learnt)
    assert term_fault(HEART_RATE, "high") == ""
