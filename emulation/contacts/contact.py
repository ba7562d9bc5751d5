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
    """The lines of a recording at which contacts begin and end. Within one instant, changes happen in the
    order of these lines.
    """

    begin: Turns
    end: Turns

    def of(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> "FileOrder":
        """Return the order of some of the contacts."""
        return FileOrder(self.begin[which], self.end[which])


@dataclass(frozen=True, slots=True)
class Contacts:
    """All contacts of a run: equally long columns, ordered by (begin, a, b), with a < b.

    `censored` marks pairs that were still in range when the run ended. Recorded contacts have the `order` of
    the file. Computed ones have none; within one instant, contacts then end last.
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
    """Merge intervals into contacts.

    Intervals of one pair that overlap, or lie at most `gap_ms` apart, become one contact, in whichever order
    the pair is written. Intervals of no length count (a recorded sighting). With `lines`, a contact begins at
    the first line of its begin time and ends at the last line of its end time.
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
    """Return the lines at which contacts begin and end; each contact is the intervals from a `first` on."""
    piece_of = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(begin))))
    begins = np.where(begin == begin[first][piece_of], lines.begin, np.iinfo(np.int64).max)
    stops = np.where(end == ends[piece_of], lines.end, -1)
    return FileOrder(np.minimum.reduceat(begins, first), np.maximum.reduceat(stops, first))


def _running_maximum(values: Floats, restart: NDArray[np.bool_]) -> Floats:
    """Return the running maximum, which starts again wherever `restart` is true."""
    # Ranks are offset from group to group instead of values, because that would cost precision.
    by_size = np.argsort(values, kind="stable")
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(values))
    lift = np.cumsum(restart) * len(values)
    largest: Floats = values[by_size[np.maximum.accumulate(rank + lift) - lift]]
    return largest
