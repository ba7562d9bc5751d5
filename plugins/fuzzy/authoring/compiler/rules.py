"""Breaks a function of degrees down into pairs (docs/reference/vector-format.md, aggregators 7 and 8;
docs/decisions/0017-break-down.md).

Tried in turn: a built-in function of boards; a generator, in whose domain the function is a weighted sum;
tables of Takagi–Sugeno rules over pairs. For given centres the value of tables is linear in the rules'
coefficients, so those of all pairs are found together by least squares, reweighted a few times towards the
largest errors. The shortest sufficient block is taken. The error of the encoded bytes is measured over all
degrees, including zeros, with the code that runs on boards.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np
import numpy.typing as npt

from plugins.fuzzy.authoring.compiler.expressions import Degrees, Expression
from plugins.fuzzy.named_functions import NAMED
from watchdog.aggregators import TAKAGI_SUGENO_0
from watchdog.blocks import GENERATOR, ONE_TABLE, SUM_OF_PAIRS, TABLE_PER_PAIR
from watchdog.breakdown import evaluate_function, named

LONGEST_BLOCK: Final = 255
MOST_REGIONS: Final = 8
NEAR_ENOUGH: Final = 0.01
"""An error that does not justify more bytes: the one percent that the paper allows its approximated root."""

_SPACINGS = (1.0, 1.5, 2.0)
_SCATTERED = 900
_MEASURED = 600
_ROUNDS = 4
_POWERS = (1.0, 2.0, 3.0, 0.5)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FittedRules:
    """The bytes of the block, its aggregator, and the largest and mean error, in degrees 0..1."""

    block: bytes
    aggregator: int
    largest_error: float
    mean_error: float


def fit_rules(function: Expression, count: int, order: int | None) -> FittedRules | None:
    """Return the rules for a function of `count` degrees, or None if no block is large enough.

    With an order only rules of that order are tried; generators have order 0.
    """
    samples = _samples(count)
    wanted = function(samples / 255.0) * 255.0
    known = _named(samples, wanted, 1 if order is None else order)
    if known is not None:
        return known
    found = list(_generated(samples, wanted)) if order != 1 else []
    forms = [ONE_TABLE if count == 2 or _is_symmetric(function, count) else TABLE_PER_PAIR]
    if count > 2:
        forms.append(SUM_OF_PAIRS)
    for one, form in product((0, 1) if order is None else (order,), forms):
        room = min(
            (len(fitted.block) for fitted in found if fitted.largest_error <= NEAR_ENOUGH), default=256
        )
        found += list(_tables(samples, wanted, one, form, room - 1))
    if not found:
        return None
    enough = max(NEAR_ENOUGH, 1.2 * min(fitted.largest_error for fitted in found))
    return min(
        (fitted for fitted in found if fitted.largest_error <= enough),
        key=lambda fitted: (len(fitted.block), fitted.largest_error),
    )


def errors_of(block: bytes, samples: Degrees, wanted: Floats, order: int) -> tuple[float, float]:
    """Return the largest and the mean error of a block on samples, computed as on a board."""
    framed = bytes([len(block)]) + block
    count = samples.shape[1]
    found = [
        evaluate_function(framed, 0, bytes(row), count, order) for row in samples.astype(np.uint8).tolist()
    ]
    gap = np.abs(np.array(found) - wanted)
    return float(gap.max()) / 255.0, float(gap.mean()) / 255.0


def _named(samples: Degrees, wanted: Floats, order: int) -> FittedRules | None:
    """Return the built-in function that equals this function, if any."""
    for number, function in enumerate(NAMED):
        if np.abs(function.of_degrees(samples / 255.0) * 255.0 - wanted).max() < 0.1:
            _, mean = errors_of(bytes([number]), samples[-_MEASURED:], wanted[-_MEASURED:], order)
            return FittedRules(bytes([number]), TAKAGI_SUGENO_0 + order, function.stated_error, mean)
    return None


def _generated(samples: Degrees, wanted: Floats) -> Iterator[FittedRules]:
    """Yield approximations by weighted sums in the domains of some generators."""
    inner = (samples >= 8).all(axis=1) & (wanted >= 8) & (wanted <= 252)
    if inner.sum() < 20:
        return
    for generator, table in _generators():
        columns = generator(samples[inner] / 255.0)
        weights, *_ = np.linalg.lstsq(columns, generator(wanted[inner] / 255.0), rcond=None)
        if weights.min() < -0.02 or weights.max() > 100 or weights.max() < 0.02:
            continue
        block = bytes([GENERATOR]) + table + _whole_and_weights(np.maximum(weights, 0.0))
        if len(block) <= LONGEST_BLOCK:
            rough, _ = errors_of(block, samples[::7], wanted[::7], 0)
            if rough < 0.1:
                yield FittedRules(block, TAKAGI_SUGENO_0, *errors_of(block, samples, wanted, 0))


def _generators() -> Iterator[tuple[Expression, bytes]]:
    """Yield every generator to try, as a function of degrees 0..1 and as regions, centres and φ."""
    yield (lambda a: -np.log(a)), named(0)[:-1]
    yield (lambda a: 1.0 / a - 1.0), named(1)[:-1]
    for power in _POWERS:
        regions = 2 if power == 1 else 12
        spacing = 2.0 if power < 1 else 1.0
        centres = np.unique(np.round(255 * np.linspace(0, 1, regions) ** spacing).astype(np.int64))
        values = np.round(65535 * (1.0 - (centres / 255.0) ** power)).astype(np.int64)
        table = bytes([len(centres), *centres.tolist()])
        table += b"".join(value.to_bytes(2, "big") for value in values.tolist())
        yield (lambda a, power=power: 1.0 - a**power), table  # type: ignore[misc]


def _whole_and_weights(weights: Floats) -> bytes:
    """Return the weights as integers over the best common denominator, of equally good ones the least."""
    best: tuple[float, int] | None = None
    for whole in range(1, 256):
        parts = np.round(weights * whole)
        if parts.max() <= 255 and parts.max() > 0:
            gap = round(float(np.abs(parts / whole - weights).max()), 3)
            if best is None or gap < best[0]:
                best = gap, whole
    whole = 1 if best is None else best[1]
    parts = np.clip(np.round(weights * whole), 0, 255).astype(np.int64).tolist()
    if len(set(parts)) == 1 and sum(parts) == whole:
        return b"\0"
    return bytes([whole, *parts])


def _tables(samples: Degrees, wanted: Floats, order: int, form: int, room: int) -> Iterator[FittedRules]:
    """Yield the best tables of every size up to `room` bytes, until one is good enough or more rules help
    little.
    """
    count = samples.shape[1]
    tables = 1 if form == ONE_TABLE else count * (count - 1) // 2
    size = 3 if order else 1
    some = slice(None, None, 3)
    before = 1.0
    for regions in range(2, MOST_REGIONS + 1):
        if 2 * (form == SUM_OF_PAIRS) + 2 + regions + tables * size * regions * regions > room:
            return
        best: tuple[float, bytes] | None = None
        for spacing in _SPACINGS if regions > 2 else (1.0,):
            centres = np.round(255 * np.linspace(0, 1, regions) ** spacing).astype(np.int64)
            fitted = _fitted(samples[some], wanted[some], centres, order, form)
            if best is None or fitted[0] < best[0]:
                best = fitted
        if best is not None:
            largest, mean = errors_of(best[1], samples, wanted, order)
            yield FittedRules(best[1], TAKAGI_SUGENO_0 + order, largest, mean)
            if largest <= NEAR_ENOUGH or (regions > 3 and largest > 0.95 * before):
                return
            before = largest


def _fitted(
    samples: Degrees, wanted: Floats, centres: npt.NDArray[np.int64], order: int, form: int
) -> tuple[float, bytes]:
    """Return the expected largest error of the best table with these centres, and its block."""
    design = _design(samples, centres, order, form)
    weight = np.ones(len(samples))
    for _ in range(_ROUNDS):
        solution = _least_squares(design, wanted, weight)
        gap = np.abs(design @ solution - wanted)
        weight = weight * (0.1 + gap / max(gap.max(), 1e-9))
        weight = weight / weight.mean()
    head = bytes([form, len(centres), *centres.tolist()])
    offset = 0
    if form == SUM_OF_PAIRS:
        solution, offset = _raised(solution, len(centres) ** 2 * (3 if order else 1), 3 if order else 1)
        head += offset.to_bytes(2, "big")
    rounded = _rounded(solution, order)
    block = head + _coefficients(rounded, order)
    return float(np.abs(np.clip(design @ rounded - offset, 0, 255) - wanted).max()), block


def _raised(solution: Floats, table: int, size: int) -> tuple[Floats, int]:
    """Return coefficients whose tables have no constant below 0, and their common offset."""
    raised = solution.copy().reshape(-1, table)
    constants = raised[:, ::size]
    lifts = np.ceil(np.maximum(-constants.min(axis=1), 0.0))
    constants += lifts[:, None]
    return raised.ravel(), min(int(lifts.sum()), 65535)


def _least_squares(design: Floats, wanted: Floats, weight: Floats) -> Floats:
    """Return the weighted least-squares coefficients, by the normal equations.

    A slight regularisation determines coefficients without samples.
    """
    weighted = design * weight[:, None]
    normal = design.T @ weighted
    pull = 1e-9 * np.trace(normal) / len(normal)
    solution: Floats = np.linalg.solve(normal + pull * np.eye(len(normal)), weighted.T @ wanted)
    return solution


def _rounded(solution: Floats, order: int) -> Floats:
    """Return the coefficients rounded as in a block."""
    if order == 0:
        return np.clip(np.round(solution), 0, 255)
    rules = solution.reshape(-1, 3)
    constants = np.clip(np.round(rules[:, :1]), 0, 255)
    slopes = np.clip(np.round(rules[:, 1:] * 64), -128, 127) / 64
    return np.hstack([constants, slopes]).ravel()


def _coefficients(rounded: Floats, order: int) -> bytes:
    scale = np.array([1.0, 64.0, 64.0]) if order else np.ones(1)
    return bytes((rounded.reshape(-1, len(scale)) * scale).astype(np.int64).astype(np.uint8).ravel())


def _design(samples: Degrees, centres: npt.NDArray[np.int64], order: int, form: int) -> Floats:
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
        blocks.append(np.stack(terms, axis=-1).reshape(len(samples), -1))
    found: Floats = np.sum(blocks, axis=0) if form == ONE_TABLE else np.hstack(blocks)
    if form != SUM_OF_PAIRS:
        found = found / len(pairs)
    return found


def _memberships(degrees: Floats, centres: npt.NDArray[np.int64]) -> Floats:
    """Return the membership of each degree in each centre: linear to its two neighbours."""
    return np.stack([np.interp(degrees, centres, unit) for unit in np.eye(len(centres))], axis=1)


def _samples(count: int) -> Degrees:
    """Return degrees 0..255 for fitting and measuring: a grid for two, for more all corners, small degrees
    and fixed pseudo-random points.
    """
    if count == 2:
        side = np.unique(np.append(np.round(np.linspace(0, 255, 34)), [1.0, 2.0, 3.0, 10.0, 254.0]))
        return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    generator = np.random.default_rng(17)
    scattered = np.round(generator.random((_SCATTERED, count)) * 255)
    ends = generator.choice(np.array([0.0, 1.0, 4.0, 16.0, 64.0, 255.0]), (_SCATTERED // 3, count))
    corners = np.array(list(product((0.0, 255.0), repeat=min(count, 7))))
    filled = np.full((len(corners), count), 255.0)
    filled[:, : corners.shape[1]] = corners
    return np.concatenate([filled, ends, scattered])


def is_constant(function: Expression, count: int) -> bool:
    """Return whether a function of `count` degrees is constant."""
    values = function(np.random.default_rng(5).random((50, count)))
    return bool(np.ptp(values) < 1e-9)


def _is_symmetric(function: Expression, count: int) -> bool:
    """Return whether a function is symmetric, so that one table serves all pairs."""
    samples = np.random.default_rng(3).random((50, count))
    value = function(samples)
    return all(
        np.allclose(value, function(samples[:, order]), atol=1e-9)
        for order in ([*range(1, count), 0], [1, 0, *range(2, count)])
    )
