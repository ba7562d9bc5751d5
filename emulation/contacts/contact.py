"""Contacts: intervals in which two nodes are in range of each other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emulation.mobility.model import Floats

Nodes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Contacts:
    """All contacts of a run: equally long columns, ordered by (begin, a, b), with a < b.

    `censored` says that the pair was still in range when the run ended.
    """

    a: Nodes
    b: Nodes
    begin_ms: Floats
    end_ms: Floats
    censored: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.a)


def contacts_from_pieces(
    a: Nodes, b: Nodes, begin_ms: Floats, end_ms: Floats, duration_ms: float, gap_ms: float = 0.0
) -> Contacts:
    """Return the contacts that these intervals add up to.

    Intervals of one pair that overlap, or lie no further than `gap_ms` apart, become one contact,
    whichever way round the pair is written. An interval of no length counts (a recorded sighting is one).
    """
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((end_ms, begin_ms, high, low))
    low, high, begin, end = low[order], high[order], begin_ms[order], end_ms[order]
    if len(low) == 0:
        return Contacts(low, high, begin, end, np.zeros(0, dtype=np.bool_))
    new_pair = np.concatenate([[True], (np.diff(low) != 0) | (np.diff(high) != 0)])
    reach = _running_maximum(end, new_pair)
    apart = np.concatenate([[True], begin[1:] > reach[:-1] + gap_ms])
    first = np.flatnonzero(new_pair | apart)
    last = np.concatenate([first[1:], [len(low)]]) - 1
    low, high, begin, end = low[first], high[first], begin[first], reach[last]
    order = np.lexsort((high, low, begin))
    low, high, begin, end = low[order], high[order], begin[order], end[order]
    return Contacts(low, high, begin, end, end >= duration_ms)


def _running_maximum(values: Floats, restart: NDArray[np.bool_]) -> Floats:
    """Return the largest value so far, beginning anew wherever `restart` is true."""
    # Ranks are lifted from run to run instead of values, because lifting values would cost precision.
    by_size = np.argsort(values, kind="stable")
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(values))
    lift = np.cumsum(restart) * len(values)
    largest: Floats = values[by_size[np.maximum.accumulate(rank + lift) - lift]]
    return largest
