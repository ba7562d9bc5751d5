"""The papers' workload (thesis, tables 4.2 and 4.4), in columns.

Sets are trapezoids of four uniform corners. The thesis says both that attributes have two to five predefined
concepts and that few subscriptions share a predicate, which cannot be true at once. So there are three
workloads: `distinct`, every set drawn again; `concepts`, sets of two to five shared ones; `words`, terms that
divide an axis, each a little moved wherever it is used.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from plugins.atopss.canonical import canonical
from plugins.atopss.notifications import Notification
from plugins.atopss.relations.covering import PlainColumns
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Joined
from plugins.atopss.vectors import encode_notification, encode_subscription

Numbers = npt.NDArray[np.int64]

AXIS: Final = 1_000_000
ATTRIBUTES: Final = 42
CONCEPTS: Final = (2, 5)
SIZE, TOLD = 2, 4
"""Predicates of a subscription and values of a publication at a single broker."""
NETWORK_SIZE, NETWORK_TOLD = 4, 10
"""The same on a network."""
WORKLOADS: Final = ("distinct", "concepts", "words")
_JITTER: Final = AXIS // 50


@dataclass(frozen=True, slots=True)
class Publications:
    """Publications side by side: attributes, and four corners of each value."""

    attributes: Numbers
    corners: Numbers

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.attributes)

    def vectors(self) -> list[bytes]:
        """Return them as notifications."""
        return [
            encode_notification(
                Notification(
                    0, 0, 0, 0, {int(a): Shape(*c.tolist()) for a, c in zip(attributes, corners, strict=True)}
                )
            )
            for attributes, corners in zip(self.attributes, self.corners, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Workload:
    """Draws sets in one of three ways; what is shared is drawn once, from the seed."""

    name: str
    seed: int

    def subscriptions(
        self, count: int, size: int = SIZE, ratio: float = 0.0, sets: int | None = None
    ) -> PlainColumns:
        """Draw subscriptions without thresholds. A share `ratio` of them is a narrower form of an earlier
        one; `sets` limits the number of distinct sets of attributes.
        """
        rng = np.random.default_rng([self.seed, 1])
        if sets is None:
            attributes = _picks(rng, count, size)
        else:
            attributes = self._sets(sets, size)[rng.integers(0, sets, count)]
        corners = self._corners(rng, attributes)
        narrowed = np.flatnonzero(rng.random(count) < ratio)
        for row in narrowed[narrowed > 0]:
            of = int(rng.integers(0, row))
            attributes[row] = attributes[of]
            corners[row] = _within(rng, corners[of])
        return PlainColumns(0, attributes, corners, np.zeros((count, size, 2), np.int64))

    def publications(
        self, count: int, told: int = TOLD, size: int = SIZE, sets: int | None = None
    ) -> Publications:
        """Draw publications whose values are as uncertain as those of subscriptions; with `sets` each has
        one of the sets of attributes that are subscribed to, and others.
        """
        rng = np.random.default_rng([self.seed, 2])
        order = rng.random((count, ATTRIBUTES))
        if sets is not None:
            request = self._sets(sets, size)[rng.integers(0, sets, count)]
            np.put_along_axis(order, request, -1.0, axis=1)
        attributes = np.sort(np.argpartition(order, told, axis=1)[:, :told], axis=1)
        return Publications(attributes, self._corners(rng, attributes))

    def _sets(self, sets: int, size: int) -> Numbers:
        return _picks(np.random.default_rng([self.seed, 4]), sets, size)

    def _corners(self, rng: np.random.Generator, attributes: Numbers) -> Numbers:
        if self.name == "distinct":
            return _trapezoids(rng, attributes.shape)
        shared = np.random.default_rng([self.seed, 3])
        counts = shared.integers(CONCEPTS[0], CONCEPTS[1] + 1, ATTRIBUTES)
        which = (rng.random(attributes.shape) * counts[attributes]).astype(np.int64)
        if self.name == "concepts":
            return _trapezoids(shared, (ATTRIBUTES, CONCEPTS[1]))[attributes, which]
        moved = rng.integers(-_JITTER, _JITTER + 1, (*attributes.shape, 4))
        return np.sort(_terms(counts)[attributes, which] + moved, axis=-1)


def _picks(rng: np.random.Generator, count: int, size: int) -> Numbers:
    """Return so many different attributes each, rising."""
    return np.sort(np.argpartition(rng.random((count, ATTRIBUTES)), size, axis=1)[:, :size], axis=1)


def _trapezoids(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    return np.sort(rng.integers(0, AXIS, (*shape, 4)), axis=-1)


def _terms(counts: Numbers) -> Numbers:
    """Return terms that divide an axis evenly, with sides that cross half-way."""
    width = AXIS // counts[:, None]
    place = np.arange(CONCEPTS[1])[None, :] * width
    side = width // 4
    return np.stack([place - side, place + side, place + width - side, place + width + side], axis=-1)


def _within(rng: np.random.Generator, corners: Numbers) -> Numbers:
    """Return sets inside of others: both ends of the support, and of the core, within theirs."""
    m1, m2, m3, m4 = corners.T
    n2 = m2 + (rng.random(len(m1)) * (m3 - m2)).astype(np.int64)
    n3 = n2 + (rng.random(len(m1)) * (m3 - n2)).astype(np.int64)
    n1 = m1 + (rng.random(len(m1)) * (n2 - m1)).astype(np.int64)
    n4 = n3 + (rng.random(len(m1)) * (m4 - n3)).astype(np.int64)
    return np.stack([n1, n2, n3, n4], axis=-1)


def bodies(columns: PlainColumns, possibility: int = 0) -> list[bytes]:
    """Return subscriptions as bodies, with a threshold of the whole in thirtieths."""
    return [
        encode_subscription(
            canonical(
                columns.event,
                Joined(False, columns.subscription(row).predicates),
                possibility=possibility,
            )
        )
        for row in range(len(columns.attributes))
    ]
