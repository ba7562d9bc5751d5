"""Verdicts on curves can be refused: each is tried on curves with the shape and on such without it."""

import pytest

from dens_experiments.graph.shapes import above, falling, flat, linear, rising, straightness
from dens_experiments.panel import Line

XS = (10.0, 30.0, 100.0)


def line(*values: float) -> Line:
    return Line(tuple((value,) for value in values))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1, 3, 10), "holds"),
        ((1, 2.5, 11), "holds"),
        ((1, 10, 11), "in part"),
        ((5, 5, 5), "differs"),
        ((9, 3, 1), "differs"),
    ],
)
def test_linear(values: tuple[float, ...], verdict: str) -> None:
    assert linear("c", "w", XS, line(*values), "ms").verdict == verdict


@pytest.mark.parametrize(
    ("values", "up", "down"),
    [
        ((1, 2, 3), "holds", "differs"),
        ((1, 4, 3), "in part", "differs"),
        ((3, 2, 1), "differs", "holds"),
        ((3, 4, 1), "differs", "in part"),
    ],
)
def test_rising_and_falling(values: tuple[float, ...], up: str, down: str) -> None:
    assert rising("c", "w", line(*values), "ms").verdict == up
    assert falling("c", "w", line(*values), "ms").verdict == down


@pytest.mark.parametrize(("last", "verdict"), [(2.9, "holds"), (5, "in part"), (7, "differs")])
def test_flat(last: float, verdict: str) -> None:
    found = flat("c", "w", line(1, 2, last), "ms", 3, "because")
    assert found.verdict == verdict
    assert found.why == ("" if verdict == "holds" else "because")


@pytest.mark.parametrize(("high", "verdict"), [(20, "holds"), (5, "in part"), (0.5, "differs")])
def test_above(high: float, verdict: str) -> None:
    lines = {"a": line(1, high), "b": line(1, 1)}
    assert above("c", "a", "b", lines, "ms", 10).verdict == verdict


def test_straightness_is_that_of_least_squares() -> None:
    assert straightness((0, 1, 2), (1, 3, 5)) == pytest.approx(1)
    assert straightness((0, 1, 2), (0, 1, 0)) == pytest.approx(0)
    assert straightness((0, 1, 2), (4, 4, 4)) == 1
