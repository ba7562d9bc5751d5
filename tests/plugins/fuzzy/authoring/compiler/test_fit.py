"""The fit: what it reports is true, and nothing near it is better."""

import random

import numpy as np
import pytest

from knowledge_manager.vocabulary.hedges import HEDGES
from knowledge_manager.vocabulary.terms import (
    Bell,
    Fuzzifier,
    Gaussian,
    Points,
    Shoulder,
    Sigmoid,
    Trapezoidal,
    Triangular,
)
from plugins.curves import Curve, degrees, fuzzifier_curve, hedged
from plugins.fuzzy.authoring.compiler.fit import FULL, fit
from watchdog.membership import degree

UNIT = np.arange(256) / 255.0
NEAR = range(-4, 5)


def random_fuzzifier(chance: random.Random) -> Fuzzifier:
    a, b = sorted((chance.uniform(-0.2, 1.2), chance.uniform(-0.2, 1.2)))
    width = chance.choice([0.0, chance.uniform(0.0, 0.2), chance.uniform(0.0, 1.5)])
    rising = sorted(chance.uniform(0, 1) for _ in range(chance.randint(1, 5)))
    return chance.choice(
        [
            Trapezoidal(a, b, width),
            Triangular(a, max(width, 0.01)),
            Gaussian(a, chance.uniform(0.01, 0.6)),
            Bell(a, chance.uniform(0.02, 0.5), chance.uniform(0.3, 6.0)),
            Sigmoid(a, chance.choice([-1, 1]) * chance.uniform(2.0, 80.0)),
            Shoulder(chance.choice(["left", "right"]), a, b),
            Points(tuple((x, chance.random()) for x in rising)),
        ]
    )


def random_curve(chance: random.Random) -> Curve:
    curve = fuzzifier_curve(random_fuzzifier(chance), UNIT)
    for _ in range(chance.choice([0, 0, 1, 2])):
        curve = hedged(curve, chance.choice(list(HEDGES)))
    return curve


def deviation(triple: tuple[int, int, int], curve: Curve) -> float:
    return float(np.max(np.abs(degrees(*triple) - curve)))


def allowed(v: int, V: int, g: int, curve: Curve) -> bool:
    """Return whether a triple keeps the core to each end of the domain where the curve is 1."""
    target = 1.0 - curve if g & 128 else curve
    bytes_ = 0 <= v <= V <= 255 and 0 <= g <= 255
    return bytes_ and bool((v == 0 or target[0] < FULL) and (V == 255 or target[255] < FULL))


def neighbours(triple: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    v, V, g = triple
    return [(v + i, V + j, g + k) for i in NEAR for j in NEAR for k in NEAR]


def assert_best_nearby(curve: Curve) -> None:
    """Assert that the reported deviation is true and that no triple within ±4 in each byte is better."""
    found = fit(curve)
    assert found.deviation == pytest.approx(deviation(found.triple, curve), abs=1e-12)
    assert allowed(*found.triple, curve)
    near = [triple for triple in neighbours(found.triple) if allowed(*triple, curve)]
    assert min(deviation(triple, curve) for triple in near) >= found.deviation - 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_law_no_neighbour_is_better(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        assert_best_nearby(random_curve(chance))


def brute_force(curve: Curve) -> tuple[float, int, int, int]:
    """Return the best plain triple of all by looking at every one: deviation, v, V, c."""
    best = (9.0, 0, 0, 0)
    for v in range(0, 1 if curve[0] >= FULL else 256):
        for V in range(255, 254 if curve[255] >= FULL else v - 1, -1):
            distance = np.maximum(np.maximum(v - np.arange(256), np.arange(256) - V), 0)
            outside = float(np.max(np.where(distance == 0, 1.0 - curve, 0.0)))
            if outside < best[0]:
                for c in range(128):
                    found = deviation((v, V, c), curve)
                    if found < best[0] - 1e-12:
                        best = (found, v, V, c)
    return best


@pytest.mark.parametrize(
    "curve",
    [
        fuzzifier_curve(Shoulder("right", 0.6, 0.95), UNIT),
        fuzzifier_curve(Shoulder("left", 0.02, 0.04), UNIT),
        fuzzifier_curve(Trapezoidal(-1.0, 2.0, 0.5), UNIT),
        hedged(fuzzifier_curve(Trapezoidal(0.9, 1.0, 0.1), UNIT), "very"),
    ],
)
def test_it_is_the_best_of_all_and_ties_are_settled(curve: Curve) -> None:
    expected = brute_force(curve)
    found = fit(curve)
    assert found.triple == expected[1:]
    assert found.deviation == pytest.approx(expected[0], abs=1e-12)


def test_a_valley_takes_the_complement_bit() -> None:
    found = fit(fuzzifier_curve(Points(((0.0, 1.0), (0.5, 0.0), (1.0, 1.0))), UNIT))
    assert found.triple[2] & 128
    assert found.deviation < 0.01


def test_curves_use_the_degrees_of_the_boards() -> None:
    chance = random.Random(5)
    for _ in range(200):
        v, V = sorted((chance.randrange(256), chance.randrange(256)))
        g = chance.randrange(256)
        expected = [degree(x, v, V, g) for x in range(256)]
        assert np.array_equal(np.round(degrees(v, V, g) * 255).astype(int), expected)
