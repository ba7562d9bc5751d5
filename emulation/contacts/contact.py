"""Contacts: intervals in which two nodes are in range of each other."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulation.mobility.model import Floats

Nodes = NDArray[np.int32]
Turns = NDArray[np.int64]

COLUMNS: Final = ("a", "b", "begin_ms", "end_ms", "censored")
"""The columns of contacts that a trace has."""


@dataclass(frozen=True, slots=True)
class FileOrder:
    """Where in a recording each contact begins and ends: what happens in one instant happens in the order of
    the file's lines."""

    begin: Turns
    end: Turns

    def of(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> "FileOrder":
        """Return the order of some of the contacts."""
        return FileOrder(self.begin[which], self.end[which])


@dataclass(frozen=True, slots=True)
class Contacts:
    """All contacts of a run: equally long columns, ordered by (begin, a, b), with a < b.

    `censored` says that the pair was still in range when the run ended. Contacts of a recording have its
    `order`; those that are solved have none, and in one instant they end last: whatever could still be used
    is used.
    """

    a: Nodes
    b: Nodes
    begin_ms: Floats
    end_ms: Floats
    censored: NDArray[np.bool_]
    order: FileOrder | None = None

    def __len__(self) -> int:
        return len(self.a)


def contacts_from_pieces(
    a: Nodes,
    b: Nodes,
    begin_ms: Floats,
    end_ms: Floats,
    duration_ms: float,
    gap_ms: float = 0.0,
    lines: FileOrder | None = None,
) -> Contacts:
    """Return the contacts that these intervals add up to.

    Intervals of one pair that overlap, or lie no further than `gap_ms` apart, become one contact,
    whichever way round the pair is written. An interval of no length counts (a recorded sighting is one).
    Where the intervals stand in a file, a contact begins with the first line that says so and ends with the
    last.
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
    turns = None if lines is None else _turns(lines.of(order), begin, end, reach[last], first)
    low, high, begin, end = low[first], high[first], begin[first], reach[last]
    order = np.lexsort((high, low, begin))
    low, high, begin, end = low[order], high[order], begin[order], end[order]
    return Contacts(low, high, begin, end, end >= duration_ms, None if turns is None else turns.of(order))


def _turns(lines: FileOrder, begin: Floats, end: Floats, ends: Floats, first: NDArray[np.int64]) -> FileOrder:
    """Return the lines with which contacts begin and end; each is the intervals from a `first` on."""
    piece_of = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(begin))))
    begins = np.where(begin == begin[first][piece_of], lines.begin, np.iinfo(np.int64).max)
    stops = np.where(end == ends[piece_of], lines.end, -1)
    return FileOrder(np.minimum.reduceat(begins, first), np.maximum.reduceat(stops, first))


def _running_maximum(values: Floats, restart: NDArray[np.bool_]) -> Floats:
    """Return the largest value so far, beginning again wherever `restart` is true."""
    # Ranks are lifted from run to run instead of values, because lifting values would cost precision.
    by_size = np.argsort(values, kind="stable")
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(values))
    lift = np.cumsum(restart) * len(values)
    largest: Floats = values[by_size[np.maximum.accumulate(rank + lift) - lift]]
    return largest
