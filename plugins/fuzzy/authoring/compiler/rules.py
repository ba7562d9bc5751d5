"""Fits Takagi–Sugeno rules to a function of degrees (docs/vector-format.md, aggregators 7 and 8).

The value of a subscription is the mean over its pairs of what the fired rules say, and that is linear in the
rules' coefficients once the centres stand. So the coefficients of all pairs are found together by least
squares, reweighted a few times towards the largest errors; several spacings of the centres are tried and the
best kept. What the bytes then really compute is measured with the code that runs on boards.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from plugins.fuzzy.authoring.compiler.expressions import Degrees, Expression
from watchdog.blocks import ONE_TABLE, TABLE_PER_PAIR
from watchdog.breakdown import evaluate

LONGEST_BLOCK = 255
MOST_REGIONS = 8
SMALL_DEGREE = 26
"""Below this degree (a tenth) errors are not promised, so they are weighted less."""

_SPACINGS = (1.0, 1.5, 2.0)
_SAMPLES = 1500
_ROUNDS = 6

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FittedRules:
    """The bytes of the block, and what they miss: the largest and the mean error, in degrees 0..1."""

    block: bytes
    largest_error: float
    mean_error: float


def fit_rules(function: Expression, count: int, order: int) -> FittedRules | None:
    """Return the rules that stay nearest to a function of `count` degrees; None where no block has room for
    them.
    """
    samples = _samples(count)
    wanted = function(samples / 255.0) * 255.0
    symmetric = _is_symmetric(function, count)
    tables = 1 if symmetric else count * (count - 1) // 2
    size = 3 if order else 1
    room = [r for r in range(2, MOST_REGIONS + 1) if 2 + r + tables * size * r * r <= LONGEST_BLOCK]
    if not room:
        return None
    best: FittedRules | None = None
    for spacing in _SPACINGS:
        centres = np.unique(np.round(255 * np.linspace(0, 1, room[-1]) ** spacing).astype(np.int64))
        fitted = _fitted(samples, wanted, centres, order, symmetric)
        if best is None or fitted.largest_error < best.largest_error:
            best = fitted
    return best


def errors_of(block: bytes, samples: Degrees, wanted: Floats, order: int) -> tuple[float, float]:
    """Return the largest and the mean error of a block on samples, computed as a board computes it."""
    framed = bytes([len(block)]) + block
    count = samples.shape[1]
    found = [evaluate(framed, 0, bytes(row), count, order) for row in samples.astype(np.uint8).tolist()]
    gap = np.abs(np.array(found) - wanted)
    judged = gap[(samples >= SMALL_DEGREE).all(axis=1)]
    return float(judged.max()) / 255.0, float(judged.mean()) / 255.0


def _fitted(
    samples: Degrees, wanted: Floats, centres: npt.NDArray[np.int64], order: int, one: bool
) -> FittedRules:
    design = _design(samples, centres, order, one)
    inner = (samples >= SMALL_DEGREE).all(axis=1)
    weight = np.where(inner, 1.0, 0.2)
    for _ in range(_ROUNDS):
        solution = _least_squares(design, wanted, weight)
        gap = np.abs(design @ solution - wanted)
        weight = weight * (0.1 + gap / max(gap[inner].max(), 1e-9))
        weight = weight / weight[inner].mean()
    regions = len(centres)
    function = ONE_TABLE if one or samples.shape[1] == 2 else TABLE_PER_PAIR
    block = bytes([function, regions, *centres.tolist()]) + _coefficients(solution, order)
    return FittedRules(block, *errors_of(block, samples, wanted, order))


def _least_squares(design: Floats, wanted: Floats, weight: Floats) -> Floats:
    """Return the coefficients of the least weighted squares, by the normal equations.

    A faint pull towards 0 settles coefficients that no sample decides.
    """
    weighted = design * weight[:, None]
    normal = design.T @ weighted
    pull = 1e-9 * np.trace(normal) / len(normal)
    solution: Floats = np.linalg.solve(normal + pull * np.eye(len(normal)), weighted.T @ wanted)
    return solution


def _coefficients(solution: Floats, order: int) -> bytes:
    if order == 0:
        return bytes(np.clip(np.round(solution), 0, 255).astype(np.uint8))
    rules = solution.reshape(-1, 3)
    constants = np.clip(np.round(rules[:, :1]), 0, 255)
    slopes = np.clip(np.round(rules[:, 1:] * 64), -128, 127)
    return bytes(np.hstack([constants, slopes]).astype(np.int64).astype(np.uint8).ravel())


def _design(samples: Degrees, centres: npt.NDArray[np.int64], order: int, one: bool) -> Floats:
    """Return the matrix whose product with all coefficients is the value of each sample."""
    count = samples.shape[1]
    pairs = list(combinations(range(count), 2))
    memberships = [_memberships(samples[:, column], centres) for column in range(count)]
    blocks = []
    for i, j in pairs:
        fired = memberships[i][:, :, None] * memberships[j][:, None, :]
        terms = [fired]
        if order:
            from_i = (samples[:, i][:, None] - centres)[:, :, None]
            from_j = (samples[:, j][:, None] - centres)[:, None, :]
            terms += [fired * from_i, fired * from_j]
        blocks.append(np.stack(terms, axis=-1).reshape(len(samples), -1) / len(pairs))
    found: Floats = np.sum(blocks, axis=0) if one else np.hstack(blocks)
    return found


def _memberships(degrees: Floats, centres: npt.NDArray[np.int64]) -> Floats:
    """Return how much each degree belongs to each centre: linearly to its two neighbours."""
    return np.stack([np.interp(degrees, centres, unit) for unit in np.eye(len(centres))], axis=1)


def _samples(count: int) -> Degrees:
    """Return degrees 0..255 to fit at: a grid for two, the same scattered points every time for more."""
    if count == 2:
        side = np.round(np.linspace(0, 255, 52))
        return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    generator = np.random.default_rng(17)
    return np.round(generator.random((_SAMPLES, count)) * 255)


def is_constant(function: Expression, count: int) -> bool:
    """Tell whether a function of `count` degrees has one value everywhere."""
    values = function(np.random.default_rng(5).random((50, count)))
    return bool(np.ptp(values) < 1e-9)


def _is_symmetric(function: Expression, count: int) -> bool:
    """Tell whether the order of the degrees does not matter, so that one table serves all pairs."""
    samples = np.random.default_rng(3).random((50, count))
    value = function(samples)
    return all(
        np.allclose(value, function(samples[:, order]), atol=1e-9)
        for order in ([*range(1, count), 0], [1, 0, *range(2, count)])
    )
