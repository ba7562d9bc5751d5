"""The three workloads of the matching measurements, as arrays of subscription vectors and of events.

(i) the paper's: see `dens_experiments.fuzzy.workload`; (ii) distinct subscriptions to three of seven
attributes; (iii) an event class of 42 attributes, two predicates a subscription, distinct or built from 2
to 5 shared concepts an attribute (the thesis' table 4.2); events have four attributes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dens_experiments.batch.workload import ATTRIBUTES, Workload

Bytes = npt.NDArray[np.uint8]

WIDE_ATTRIBUTES = 42
WIDE_BYTES = 8
NARROW_ATTRIBUTES = 7


@dataclass(frozen=True, slots=True)
class Events:
    """Notifications taken apart: one row of values each, its event class and its feature."""

    rows: Bytes
    events: Bytes
    features: npt.NDArray[np.int64]


def _vectors(
    picks: npt.NDArray[np.int64], triples: Bytes, thresholds: npt.NDArray[np.int64], width: int
) -> Bytes:
    count, size = picks.shape
    vectors = np.zeros((count, 6 + 3 * size + 2 * width), np.uint8)
    vectors[:, 5] = thresholds << 4
    vectors[:, 6 : 6 + 3 * size] = triples.reshape(count, 3 * size)
    vectors[:, -width - 1] = 1
    masks = np.bitwise_or.reduce(np.uint64(1) << picks.astype(np.uint64), axis=1)
    vectors[:, -width:] = masks.astype(">u8").view(np.uint8).reshape(count, 8)[:, 8 - width :]
    return vectors


def _picks(rng: np.random.Generator, count: int, attributes: int, size: int) -> npt.NDArray[np.int64]:
    """Draw `size` different attributes for everybody, in rising order."""
    some = min(count, 100_000)
    drawn = np.sort(np.argsort(rng.random((some, attributes)), axis=1)[:, :size], axis=1)
    return drawn if some == count else drawn[rng.integers(0, some, count)]


def distinct(count: int, attributes: int, size: int, width: int, seed: int = 1) -> Bytes:
    """Subscriptions that share nothing but their attributes, with thresholds 0 to 0.8."""
    rng = np.random.default_rng(seed)
    triples = np.empty((count, size, 3), np.uint8)
    triples[:, :, 0] = rng.integers(0, 220, (count, size))
    triples[:, :, 1] = triples[:, :, 0] + rng.integers(5, 36, (count, size))
    triples[:, :, 2] = rng.integers(40, 90, (count, size))
    return _vectors(_picks(rng, count, attributes, size), triples, rng.integers(0, 13, count), width)


def shared(count: int, seed: int = 1) -> Bytes:
    """Subscriptions to two of 42 attributes in the words of a vocabulary: 2 to 5 terms an attribute."""
    rng = np.random.default_rng(seed)
    terms = np.zeros((WIDE_ATTRIBUTES, 5, 3), np.uint8)
    numbers = rng.integers(2, 6, WIDE_ATTRIBUTES)
    for attribute, number in enumerate(numbers):
        borders = np.linspace(0, 255, number + 1).astype(int)
        for term in range(number):
            terms[attribute, term] = (borders[term], borders[term + 1], 60)
    picks = _picks(rng, count, WIDE_ATTRIBUTES, 2)
    chosen = (rng.random((count, 2)) * numbers[picks]).astype(int)
    return _vectors(picks, terms[picks, chosen], rng.integers(0, 16, count), WIDE_BYTES)


def events(count: int, attributes: int, told: int, width: int, seed: int = 2) -> Events:
    """Events with some of the attributes, and random values."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((count, 8 * width), np.uint8)
    features = np.zeros(count, np.int64)
    for number in range(count):
        chosen = rng.choice(attributes, told, replace=False)
        rows[number, chosen] = rng.integers(0, 256, told)
        features[number] = np.bitwise_or.reduce(np.int64(1) << chosen)
    return Events(rows, np.zeros(count, np.uint8), features)


def covered(count: int, attributes: int, size: int, ratio: float, seed: int = 1) -> Bytes:
    """Subscriptions of which a share is a narrower form of an earlier one."""
    rng = np.random.default_rng(seed)
    picks = _picks(rng, count, attributes, size)
    low = rng.integers(0, 200, (count, size))
    high = low + rng.integers(10, 56, (count, size))
    slope = rng.integers(40, 70, (count, size))
    threshold = rng.integers(0, 10, count)
    for number in np.flatnonzero(rng.random(count) < ratio):
        of = int(rng.random() * number)
        picks[number] = picks[of]
        low[number] = np.minimum(low[of] + rng.integers(0, 4, size), high[of])
        high[number] = np.maximum(high[of] - rng.integers(0, 4, size), low[number])
        slope[number] = np.minimum(slope[of] + rng.integers(0, 4, size), 126)
        threshold[number] = min(15, threshold[of] + rng.integers(0, 2))
    triples = np.stack([low, high, slope], axis=2).astype(np.uint8)
    return _vectors(picks, triples, threshold, WIDE_BYTES)


BOX_ATTRIBUTES = ATTRIBUTES


def boxes(
    count: int, half_width: float, seed: int, *, attributes: int = BOX_ATTRIBUTES, clustered: bool = False
) -> Bytes:
    """Return boxes as lows then highs, in bytes: half-widths are uniform up to the one given."""
    return Workload(half_width, clustered).boxes(count, seed, attributes=attributes)


def box_events(count: int, seed: int, *, attributes: int = BOX_ATTRIBUTES, clustered: bool = False) -> Bytes:
    """Return events that have all attributes, a row each."""
    return Workload(1.0, clustered).events(count, seed, attributes=attributes)
