"""`watchdog.scan` and `watchdog.fnif` as machine code, where a board's MicroPython can make it.

What is released, and in which order, is what the plain scans release; only how a reading is judged stands
here a second time. Where a plain scan has small functions there are loops here, because a call of one kernel
by another makes objects of its numbers again.
"""

import micropython

from watchdog.native_grader import first_satisfied
from watchdog.pool import FOLLOWERS
from watchdog.scan import Scan


@micropython.viper
def gather(  # type: ignore[no-untyped-def]
    feature, at: int, feature_bytes: int, row, out, to: int
) -> int:
    """Write the values of the attributes in the feature into out from `to` on; return the end."""
    bits = ptr8(feature)
    measured = ptr8(row)
    written = ptr8(out)
    at += feature_bytes - 1
    n = 8 * feature_bytes - 1
    i = 0
    while i < n:
        if (int(bits[at - (i >> 3)]) >> (i & 7)) & 1:
            written[to] = measured[i]
            to += 1
        i += 1
    return to


@micropython.viper
def next_open(  # type: ignore[no-untyped-def]
    block,
    at: int,
    end: int,
    stride: int,
    event,
    have,
    served,
    served_end: int,
    size: int,
    exact: int,
    feature_bytes: int,
) -> int:
    """Return where the next SEF stands, from `at` on in steps of `stride`, whose features a reading has and
    no notification serves yet; 0 if there is none before `end`.

    Rank and SAF follow it. What is served are entries of `size` bytes that end with an SAF; with `exact` a
    rank stands before it, and an entry serves nothing but its own rank.
    """
    b = ptr8(block)
    wanted = ptr8(event)
    there = ptr8(have)
    told = ptr8(served)
    while at < end:
        rank = at + feature_bytes
        is_open = exact == 0 or int(b[rank]) > 0
        i = 0
        while is_open and i < feature_bytes:
            if int(b[at + i]) & ~int(wanted[i]) or int(b[rank + 1 + i]) & ~int(there[i]):
                is_open = False
            i += 1
        old = size - feature_bytes
        while is_open and old < served_end:
            if exact == 0 or int(told[old - 1]) == int(b[rank]):
                i = 0
                while i < feature_bytes and int(b[rank + 1 + i]) & ~int(told[old + i]) == 0:
                    i += 1
                if i == feature_bytes:
                    is_open = False
            old += size
        if is_open:
            return at
        at += stride
    return 0


@micropython.viper
def kept(  # type: ignore[no-untyped-def]
    block, saf: int, served, new: int, exact: int, feature_bytes: int
) -> int:
    """Put the feature at block[saf] behind the list of FNIF, as `watchdog.fnif.FlatScan.keep` does; return
    where the list ends.
    """
    b = ptr8(block)
    entries = ptr8(served)
    size = 2 + feature_bytes
    entries[new + 1] = b[saf - 1]
    i = 0
    while i < feature_bytes:
        entries[new + 2 + i] = b[saf + i]
        i += 1
    entries[new + 2] = int(entries[new + 2]) | 128
    last = new
    at = 0 if exact else new
    while at > 0:
        at -= size
        i = 0
        while i < feature_bytes and int(entries[at + 2 + i]) & ~int(entries[new + 2 + i]) == 0:
            i += 1
        if i == feature_bytes:
            i = 0
            while i < size:
                entries[at + i] = entries[last + i]
                i += 1
            last -= size
    return last + size


class NativeScan(Scan):
    """Goes over a pool of FNIFS or FNIFC, block by block."""

    @micropython.native
    def advance(self) -> int:
        """Go on to the next notification that the reading is worth; return what released it, 0 if there is
        none.
        """
        pool = self.pool
        blocks = pool.blocks
        F = pool.feature_bytes
        saf = 3 + F
        covering = pool.covering
        exact = self.exact
        event = self.event
        have = self.have
        served = self.served
        end = self.served_end
        number = self.next if self.present else len(blocks)
        while number < len(blocks):
            block = blocks[number]
            number += 1
            if exact and block[saf - 1] != self.rank:
                self.rank = block[saf - 1]
                end = 0
            if (not exact or self.rank) and next_open(block, 2, 3, 1, event, have, served, end, F, 0, F):
                values = self.rows[block[saf - 1]]
                gather(block, saf, F, self.row, values, 0)
                degree_u8 = first_satisfied(
                    block,
                    11 + 2 * F + covering,
                    block[3 + 2 * F] if covering else block[1],
                    values,
                    block[saf] >> 7,
                    self.degrees,
                    self.combine,
                )
                if degree_u8:
                    self.next = number
                    left = 0
                    for i in range(F):
                        served[end + i] = block[saf + i]
                        left |= self.mask[i] & ~block[saf + i]
                    if left == 0 and not exact:
                        self.present = 0
                    served[end] |= 128
                    self.served_end = end + F
                    self.release(block, saf, degree_u8)
                    return degree_u8
        self.next = number
        self.served_end = end
        return 0

    @micropython.native
    def release(self, feature: bytes | bytearray, at: int, degree_u8: int) -> None:
        """Make the notification of the attribute feature at feature[at], whose rank stands before it."""
        F = self.pool.feature_bytes
        if feature[at - 1] == 0:
            feature = self.mask
            at = 0
        event = self.event
        vector = self.vector
        vector[5] = degree_u8 // 17 << 4
        end = gather(feature, at, F, self.row, vector, 6)
        for i in range(F):
            vector[end + i] = event[i]
            vector[end + F + i] = feature[at + i]
        vector[end + F] &= 127
        self.length = end + 2 * F


class NativeFlatScan(NativeScan):
    """Goes over a pool of FNIF, subscription by subscription."""

    @micropython.native
    def advance(self) -> int:
        """Go on to the next notification that the reading is worth; return what released it, 0 if there is
        none. The first call makes the pass.
        """
        F = self.pool.feature_bytes
        size = 2 + F
        if self.present:
            exact = int(self.exact)
            event = self.event
            have = self.have
            served = self.served
            header = self.pool.header()
            for block in self.pool.blocks:
                if block[2] == FOLLOWERS:
                    continue
                stride = block[0] << 1
                at = header + 8
                end = at + block[1] * stride
                at = next_open(block, at, end, stride, event, have, served, self.served_end, size, exact, F)
                while at:
                    saf = at + F + 1
                    values = self.rows[block[saf - 1]]
                    gather(block, saf, F, self.row, values, 0)
                    degree_u8 = first_satisfied(
                        block, saf + F, 1, values, block[saf] >> 7, self.degrees, self.combine
                    )
                    if degree_u8:
                        served[self.served_end] = degree_u8
                        self.served_end = kept(block, saf, served, self.served_end, exact, F)
                    at += stride
                    at = next_open(
                        block, at, end, stride, event, have, served, self.served_end, size, exact, F
                    )
            self.present = 0
        at = self.next
        if at == self.served_end:
            return 0
        self.next = at + size
        self.release(self.served, at + 2, self.served[at])
        return self.served[at]
