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
    measured: int,
    best,
    place: int,
    feature_bytes: int,
) -> int:
    """Return where the next SEF stands, from `at` on in steps of `stride`, whose features a reading has and
    no notification serves yet; 0 if there is none before `end`.

    Rank and SAF follow it; they have to be larger than those at best[place], if place is not 0, and a rank
    has to be `measured`, if that is not below 0.
    """
    b = ptr8(block)
    wanted = ptr8(event)
    there = ptr8(have)
    told = ptr8(served)
    other = ptr8(best)
    while at < end:
        rank = at + feature_bytes
        is_open = measured < 0 or int(b[rank]) == measured
        if place:
            i = 0
            while i < feature_bytes and int(b[rank + i]) == int(other[place + i]):
                i += 1
            if int(b[rank + i]) <= int(other[place + i]):
                is_open = False
        i = 0
        while is_open and i < feature_bytes:
            if int(b[at + i]) & ~int(wanted[i]) or int(b[rank + 1 + i]) & ~int(there[i]):
                is_open = False
            i += 1
        old = 0
        while is_open and old < served_end:
            i = 0
            while i < feature_bytes and int(b[rank + 1 + i]) & ~int(told[old + i]) == 0:
                i += 1
            if i == feature_bytes:
                is_open = False
            old += feature_bytes
        if is_open:
            return at
        at += stride
    return 0


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
        measured = self.measured if self.exact else -1
        event = self.event
        have = self.have
        served = self.served
        end = self.served_end
        number = self.next if self.present else len(blocks)
        while number < len(blocks):
            block = blocks[number]
            number += 1
            if next_open(block, 2, 3, 1, event, have, served, end, measured, block, 0, F):
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
                    self.release(block, saf, degree_u8)
                    return degree_u8
        self.next = number
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
        served = self.served
        place = self.served_end
        vector[5] = degree_u8 // 17 << 4
        end = gather(feature, at, F, self.row, vector, 6)
        for i in range(F):
            vector[end + i] = event[i]
            vector[end + F + i] = served[place + i] = feature[at + i]
        vector[end + F] &= 127
        served[place] |= 128
        self.served_end = place + F
        self.length = end + 2 * F


class NativeFlatScan(NativeScan):
    """Goes over a pool of FNIF, subscription by subscription."""

    @micropython.native
    def advance(self) -> int:
        """Go on to the next notification that the reading is worth; return what released it, 0 if there is
        none.
        """
        pool = self.pool
        F = pool.feature_bytes
        measured = self.measured if self.exact else -1
        event = self.event
        have = self.have
        served = self.served
        served_end = self.served_end
        best = self.mask
        place = degree_u8 = 0
        for block in pool.blocks:
            if self.present == 0 or block[2] == FOLLOWERS:
                continue
            stride = block[0] << 1
            at = pool.header() + 8
            end = at + block[1] * stride
            at = next_open(block, at, end, stride, event, have, served, served_end, measured, best, place, F)
            while at:
                saf = at + F + 1
                values = self.rows[block[saf - 1]]
                gather(block, saf, F, self.row, values, 0)
                found = first_satisfied(
                    block, saf + F, 1, values, block[saf] >> 7, self.degrees, self.combine
                )
                if found:
                    degree_u8 = found
                    best = block
                    place = saf - 1
                at += stride
                at = next_open(
                    block, at, end, stride, event, have, served, served_end, measured, best, place, F
                )
        if degree_u8:
            self.release(best, place + 1, degree_u8)
        return degree_u8
