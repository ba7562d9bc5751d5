"""Where the columns of a block stand: the layout that everyone who reads or writes rows agrees on.

A block is 64 rows of one group. Where the aggregator is the minimum, a row matches exactly if every value
lies in its *cut*, the values whose degree is above the row's floor. With k constraints its block has, in
multiples of 64 bytes,

    cuts     2k      for each constraint a column of first values and one of how many follow

and in an array of their own, row by row, the records: the key (u32), then v, V (u8) and slope (u16) of each
constraint. So searching reads two bytes a constraint, and the record only of what matches. With any other
aggregator a block has

    slopes   2k      u16, one column a constraint: 256·γ, 65535 for crisp
    keys     4       u32
    v        k       one column a constraint
    V        k
    floor    1       one below the least degree that is wanted; 255 in rows that hold nothing
    weights  k       only where the aggregator is the weighted mean

A place is block·64 + row, 32 bits. A group whose cuts stand in bitsets too (`IN_BITS`) is searched there and
not in its blocks. `GROUPS` and `BLOCKS` name the fields of the two tables of numbers.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from watchdog.aggregators import MIN, WEIGHTED_MEAN

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint32]
Short = npt.NDArray[np.int32]

ROWS = 64
EMPTY = 255

MINIMUM, WEIGHTED = MIN, WEIGHTED_MEAN

# fields of a group
EVENT, NEEDS, AGED, KIND, FLIPS, SIZE, TAIL, COUNT, PATTERN, NEXT, IN_BITS = range(11)
GROUP_FIELDS = 11

# fields of a block
AT, PREVIOUS, OWNER, RECORDS = range(4)
BLOCK_FIELDS = 4

NOTHING = -1


class RowArrays(NamedTuple):
    """The arrays of a row store, as the searches read them."""

    arena: Bytes
    words: Keys
    """The arena as 32-bit words."""
    records: Keys
    groups: Numbers
    group_count: int
    blocks: Numbers
    directory: Short
    patterns: Numbers


class MinimumArrays(NamedTuple):
    """What a search of groups of minima reads. Compiled code takes hold of every array at each call, so the
    innermost functions are given no others.
    """

    arena: Bytes
    records: Keys
    blocks: Numbers
    groups: Numbers


class OtherArrays(NamedTuple):
    """What a search of all other groups reads."""

    arena: Bytes
    words: Keys
    blocks: Numbers
    groups: Numbers
    patterns: Numbers
    scratch: Bytes


class Matches(NamedTuple):
    """The values that are searched for, and the keys and degrees that are found."""

    numbers: Numbers
    keys: Keys
    degrees: Bytes


class Notifications(NamedTuple):
    """Notifications to search for: a row has one byte per attribute index, the age last; `features` leave the
    age out.
    """

    rows: Bytes
    events: Bytes
    features: Numbers


class SearchRoom(NamedTuple):
    """Working room of a search, and room for the keys and degrees that it finds."""

    visited: Short
    scratch: Bytes
    numbers: Numbers
    keys: Keys
    degrees: Bytes


class BitsetRuns(NamedTuple):
    """Runs of bitsets, those of one group next to each other."""

    runs: Any
    """A list of `BlockArrays`."""
    owners: Numbers
    """Group and used blocks of each run."""
    columns: Numbers
    """The places of a run's values in a row."""


def cuts_at(rank: int) -> int:
    """Return where the cuts of a constraint begin in a block of minima, in bytes: first values, then
    lengths.
    """
    return 128 * rank


def slopes_at(rank: int) -> int:
    """Return where the slopes of a constraint begin."""
    return 128 * rank


def keys_at(size: int) -> int:
    """Return where the keys begin."""
    return 128 * size


def lows_at(size: int, rank: int) -> int:
    """Return where the v of a constraint begin."""
    return 128 * size + 256 + 64 * rank


def highs_at(size: int, rank: int) -> int:
    """Return where the V of a constraint begin."""
    return 192 * size + 256 + 64 * rank


def floors_at(size: int) -> int:
    """Return where the floors begin."""
    return 256 * size + 256


def weights_at(size: int, rank: int) -> int:
    """Return where the weights of a constraint begin."""
    return 256 * size + 320 + 64 * rank


def block_bytes(size: int, kind: int) -> int:
    """Return the length of a block, without records."""
    if kind == MINIMUM:
        return 128 * size
    return 256 * size + 320 + (64 * size if kind == WEIGHTED else 0)


def record_words(size: int) -> int:
    """Return the length of a record."""
    return 1 + size


def slot_of(event: int, needs: int, slots: int) -> int:
    """Return where in a directory of `slots` places the search for (event, mask) begins; `slots` is a power
    of two.
    """
    mixed = (needs & 0x3FFFFFFF) * 2654435761 + (needs >> 30) * 2246822519 + event * 40503
    return (mixed ^ mixed >> 15) & (slots - 1)
