"""The integer geometric and harmonic means stay within 2/255 of the real ones: all pairs, a million tuples.

The boards' own function is compiled as it stands; the real means are judged in whole numbers, so that no
rounding takes part in the judgement.
"""

from math import prod

import numpy as np
import pytest
from numba import njit

from plugins.kernels.compiled import compiled
from watchdog.aggregate import aggregate
from watchdog.aggregators import GEOMETRIC_MEAN, HARMONIC_MEAN

mean_of = compiled(aggregate)


@njit
def _means(kind: int, rows: np.ndarray, n: int) -> np.ndarray:
    found = np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        found[i] = mean_of(kind, rows[i], n)
    return found


def check_rows(rows: np.ndarray) -> None:
    n = rows.shape[1]
    geometric = _means(GEOMETRIC_MEAN, rows, n).tolist()
    harmonic = _means(HARMONIC_MEAN, rows, n).tolist()
    for row, g, h in zip(rows.tolist(), geometric, harmonic, strict=True):
        product = prod(row)
        if product == 0:
            assert (g, h) == (0, 0)
            continue
        assert max(0, g - 2) ** n <= product <= (g + 2) ** n, (row, g)
        reciprocals = sum(product // a for a in row)
        assert (h - 2) * reciprocals <= n * product <= (h + 2) * reciprocals, (row, h)
        assert min(row) <= h <= g <= max(row), (row, h, g)


def test_all_pairs() -> None:
    check_rows(np.stack(np.meshgrid(np.arange(256), np.arange(256)), axis=-1).reshape(-1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("n", range(3, 9))
def test_a_million_tuples(n: int) -> None:
    chance = np.random.default_rng(n)
    rows = chance.integers(0, 256, size=(167_000, n))
    low = chance.random(len(rows)) < 0.3
    rows[low] = chance.integers(1, 20, size=(int(low.sum()), n))
    check_rows(rows)
