"""Boxes and events at random, in 12 attributes of a byte each, and the trees over them.

The paper says that both are "created randomly" and no more; how wide boxes are decides how much work an event
is. So three workloads stand side by side.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from plugins.boxes.batch_search import BatchSearch
from plugins.boxes.rtree import RTreeIndex

Bytes = npt.NDArray[np.uint8]

ATTRIBUTES: Final = 12
EVERYTHING: Final = (1 << ATTRIBUTES) - 1
CLUSTERS, SPREAD = 64, 0.08
"""Where boxes and events are clustered: around so many places, normally distributed, the n-th place having
1/n of what the first has (Zipf).
"""
_FULL: Final = 1.0
"""How full nodes are loaded: as stated in the paper, 10 and 20 entries."""


@dataclass(frozen=True, slots=True)
class Workload:
    """How wide boxes are, and where they and the events lie."""

    half_width: float
    clustered: bool = False

    def words(self) -> str:
        """Return it for people."""
        where = "around 64 places" if self.clustered else "everywhere alike"
        return f"half-widths up to {self.half_width:g} of the domain, {where}"

    def boxes(self, count: int, seed: int, *, attributes: int = ATTRIBUTES) -> Bytes:
        """Return boxes as lows then highs: half-widths are uniform up to the one given."""
        rng = np.random.default_rng(seed)
        centres = _places(rng, count, attributes, self.clustered)
        halves = self.half_width * rng.random((count, attributes))
        sides = np.concatenate([centres - halves, centres + halves], axis=1)
        return _bytes(sides)

    def events(self, count: int, seed: int, *, attributes: int = ATTRIBUTES) -> Bytes:
        """Return events that have all attributes, a row each."""
        places = _places(np.random.default_rng(seed), count, attributes, self.clustered)
        return _bytes(places)

    def tree(self, count: int, seed: int, boxes: Bytes | None = None) -> RTreeIndex:
        """Return a tree over so many boxes, of the first of these if some are given: loaded at once, and
        searched once, so that it is compiled.
        """
        index = RTreeIndex(ATTRIBUTES, fill=_FULL)
        ids = np.arange(count, dtype=np.uint32)
        sides = self.boxes(count, seed) if boxes is None else boxes[:count]
        index.load(ids, sides, np.full(count, EVERYTHING, np.uint64))
        some = self.events(2, seed)
        for level in (1, 2):
            list(BatchSearch(index, some, present(some), level).results())
        return index


WORKLOADS: Final = MappingProxyType(
    {"wide": Workload(0.4), "narrow": Workload(0.15), "clustered": Workload(0.15, clustered=True)}
)


def present(events: Bytes) -> npt.NDArray[np.uint64]:
    """Return that events have all of their attributes."""
    return np.full(len(events), (1 << events.shape[1]) - 1, np.uint64)


def _bytes(shares: npt.NDArray[np.float64]) -> Bytes:
    return np.rint(255 * np.clip(shares, 0, 1)).astype(np.uint8)


def _places(
    rng: np.random.Generator, count: int, attributes: int, clustered: bool
) -> npt.NDArray[np.float64]:
    if not clustered:
        return rng.random((count, attributes))
    around = np.random.default_rng(CLUSTERS).random((CLUSTERS, attributes))
    weights = 1 / np.arange(1, CLUSTERS + 1)
    chosen = rng.choice(CLUSTERS, count, p=weights / weights.sum())
    return around[chosen] + SPREAD * rng.standard_normal((count, attributes))
