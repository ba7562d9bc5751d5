"""Aggregating functions of other packages: found by entry points, refused in words, and guarded."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from dens.config.entry_points import OutsidePackageError
from plugins.fuzzy.authoring.compiler.aggregators import (
    ENTRY_POINT_GROUP,
    guarded,
    outside_aggregators,
    registered_aggregators,
)
from plugins.fuzzy.authoring.compiler.expressions import BadExpression


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, ENTRY_POINT_GROUP)


def test_none_is_installed_beside_the_tests() -> None:
    assert registered_aggregators() == {}


def test_an_entry_point_gives_a_function() -> None:
    found = outside_aggregators([entry("spread", "numpy:ptp")])
    assert found["spread"](np.array([0.25, 1.0])) == 0.75


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("spread", "numpy:no_such_function", "cannot be loaded"),
        ("spread", "numpy:pi", "name a function of degrees"),
        ("min", "numpy:ptp", "taken already"),
    ],
)
def test_one_that_cannot_be_used_is_refused_in_words(name: str, value: str, why: str) -> None:
    with pytest.raises(OutsidePackageError, match=why):
        outside_aggregators([entry(name, value)])


def test_function_errors_are_reported_as_bad_expression() -> None:
    rows = np.full((3, 2), 0.5)
    assert guarded("twice", lambda degrees: degrees.sum(axis=1) * 2)(rows).tolist() == [1.0] * 3
    with pytest.raises(BadExpression, match="must return 3 numbers"):
        guarded("wide", lambda degrees: degrees)(rows)
    with pytest.raises(BadExpression, match="must return 3 numbers"):
        guarded("odd", lambda degrees: degrees[:, 0] * np.nan)(rows)
    with pytest.raises(BadExpression, match="failed: ZeroDivisionError"):
        guarded("bad", lambda degrees: degrees * (1 // 0))(rows)
