"""A chain of conditions that follow one another, on a board that sees all its readings.

Of a chain s1; s2, s3; … of one event class within a window it is enough to know, for each state, the latest
beginning of what reached it: a later one ends no later, so whatever a state completes, its latest beginning
completes too. Before a `,` only the newest reading counts. So a state is one cell, whatever happens:

    begin (2)  number of the last reading (2)  its stamp (2)

Stamps and numbers count modulo 65536. Whoever hears nothing for nine hours or more clears it: stamps cannot
be compared over half of their circle. `feed` allocates nothing.
"""

CELL = 6
MOST_LEAVES = 8


class Chain:
    """`joins` has a bit for each leaf but the last: set where the very next reading has to be the next leaf,
    lowest bit first. With `is_first` a match uses up all that lies before its end.
    """

    def __init__(self, leaves: int, joins: int, window_s: int, is_first: bool = False) -> None:
        self.leaves = leaves
        self.joins = joins
        self.window_s = window_s
        self.is_first = is_first
        self.cells = bytearray(CELL * leaves)
        self.held = 0
        """The states that have been reached, a bit each."""

    def clear(self) -> None:
        """Begin anew."""
        self.held = 0

    def feed(self, satisfied: int, number: int, stamp_s: int) -> bool:
        """Take the next reading, which satisfies these leaves (a bit each); tell whether a match ends with
        it.
        """
        cells = self.cells
        self._expire(stamp_s)
        leaf = self.leaves
        ended = False
        while leaf:
            leaf -= 1
            at = CELL * leaf
            if satisfied >> leaf & 1:
                begin = stamp_s
                if leaf:
                    begin = self._begin_of(leaf - 1, number, stamp_s)
                if begin >= 0 and self._is_better(leaf, begin):
                    self.held |= 1 << leaf
                    cells[at] = begin >> 8
                    cells[at + 1] = begin & 255
                    cells[at + 2] = number >> 8
                    cells[at + 3] = number & 255
                    cells[at + 4] = stamp_s >> 8
                    cells[at + 5] = stamp_s & 255
                if begin >= 0 and leaf == self.leaves - 1:
                    ended = True
        if ended and self.is_first:
            self.held = 0
        return ended

    def state(self, number: int) -> int:
        """Return which leaves are reached, a bit each, after the reading of this number: before a `,` only
        what ends in it.
        """
        found = 0
        leaf = self.leaves
        while leaf:
            leaf -= 1
            if self.held >> leaf & 1:
                at = CELL * leaf + 2
                if not self.joins >> leaf & 1 or self.cells[at] << 8 | self.cells[at + 1] == number:
                    found |= 1 << leaf
        return found

    def _expire(self, stamp_s: int) -> None:
        leaf = self.leaves
        while leaf:
            leaf -= 1
            at = CELL * leaf
            begin = self.cells[at] << 8 | self.cells[at + 1]
            if self.held >> leaf & 1 and (stamp_s - begin) & 65535 > self.window_s:
                self.held &= ~(1 << leaf)

    def _begin_of(self, leaf: int, number: int, stamp_s: int) -> int:
        """Return the beginning of what this reading may follow at a state, or -1."""
        if not self.held >> leaf & 1:
            return -1
        cells = self.cells
        at = CELL * leaf
        if self.joins >> leaf & 1:
            last = cells[at + 2] << 8 | cells[at + 3]
            before = cells[at + 4] << 8 | cells[at + 5]
            if (number - last) & 65535 != 1 or (stamp_s - before) & 65535 > 32767:
                return -1
        return cells[at] << 8 | cells[at + 1]

    def _is_better(self, leaf: int, begin: int) -> bool:
        """Tell whether a beginning is to be kept: the latest one, and before a `,` the newest reading's."""
        if not self.held >> leaf & 1 or self.joins >> leaf & 1:
            return True
        at = CELL * leaf
        known = self.cells[at] << 8 | self.cells[at + 1]
        return (begin - known) & 65535 < 32768


def wait_class(readings: int) -> int:
    """Return the power of two of how many readings a state has lasted, at most 7."""
    found = 0
    readings += 1
    while readings > 1 and found < 7:
        readings >>= 1
        found += 1
    return found


def beta(model: bytes, state: int, wait: int) -> int:
    """Return how likely a state completes in time, of 255, by a model as subscriptions carry it: two bytes of
    state and eight of β each, in ascending order. A state that it does not know is not likely at all.
    """
    low = 0
    high = len(model) // 10
    while low < high:
        middle = (low + high) >> 1
        at = 10 * middle
        found = model[at] << 8 | model[at + 1]
        if found == state:
            return model[at + 2 + wait]
        if found < state:
            low = middle + 1
        else:
            high = middle
    return 0
