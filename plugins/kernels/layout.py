"""Where the columns of a block stand: the layout that everyone who reads or writes rows agrees on.

A block is 64 rows. With k constraints a row its columns are, in multiples of 64 bytes,

    slopes   2k      u16, one column a constraint: 256·γ, 65535 for crisp
    keys     4       u32
    v        k       one column a constraint
    V        k
    floor    1       one below the least degree that is wanted; 255 in rows that hold nothing
    weights  k       only where the aggregator is the weighted mean

A place is block·64 + row, 32 bits. `GROUPS` and `BLOCKS` name the fields of the two tables of numbers.
"""

ROWS = 64
EMPTY = 255

WEIGHTED = 6

# fields of a group
EVENT, NEEDS, AGED, KIND, FLIPS, SIZE, TAIL, COUNT, PATTERN, NEXT = range(10)
GROUP_FIELDS = 10

# fields of a block
AT, PREVIOUS, OWNER = range(3)
BLOCK_FIELDS = 3

NOTHING = -1


def slopes_at(rank: int) -> int:
    """Return where the slopes of a constraint begin in a block, in bytes."""
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
    """Return the length of a block."""
    return 256 * size + 320 + (64 * size if kind == WEIGHTED else 0)


def slot_of(event: int, needs: int, slots: int) -> int:
    """Return where in a directory of `slots` places the search for (event, mask) begins; `slots` is a power
    of two.
    """
    mixed = (needs & 0x3FFFFFFF) * 2654435761 + (needs >> 30) * 2246822519 + event * 40503
    return (mixed ^ mixed >> 15) & (slots - 1)
