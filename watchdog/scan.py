"""The heart of the filter: which notifications is one reading worth? Nothing is allocated to find out.

This is FNIFS of the paper, and with a pool that covers FNIFC; FNIF is in watchdog.fnif. Subscriptions of one
event class form groups by attribute feature. Groups are visited by falling cardinality, then falling feature;
the first subscription of a group that is satisfied releases the notification of that feature, and the scan
goes on with the other groups. A group whose feature is contained in one already released (`subset`), or
equals it (`exact`, the paper's NF = SF), is served by that one. So under `exact` a reading releases one
notification for each satisfied feature that it contains. Cardinality, containment and equality leave the age
bit out. A subscription to the age alone has no feature to be equal to: under `exact` it releases nothing.

The order of groups lets the scan stop early: the rest of a group after its first hit, and under `subset` all
other groups after a notification that has every measured attribute, because it serves them.

A board's heap pays about a hundred bytes for every function, so there are few of them here.
"""

from watchdog.grader import first_satisfied
from watchdog.pool import Pool

EARLY = 1
"""Whether a scan under `subset` ends with a notification that has every measured attribute; a build for a
small board sets it to 0 and tests the other groups too.
"""

MOST_SERVED = 35
"""The most features of seven attributes of which none is contained in another."""

MOST_FEATURES = 127
"""The most features of seven attributes."""


def contained(a: bytes | bytearray, at: int, b: bytes | bytearray, bt: int, feature_bytes: int) -> bool:
    """Return whether every bit of the feature at a[at] is set in the one at b[bt]."""
    for i in range(feature_bytes):
        if a[at + i] & ~b[bt + i]:
            return False
    return True


def gather(
    feature: bytes | bytearray, at: int, feature_bytes: int, row: bytes | bytearray, out: bytearray, to: int
) -> int:
    """Write the values of the attributes in the feature, without the age, into out from `to` on; return the
    end.
    """
    at += feature_bytes - 1
    for j in range(feature_bytes):
        bits = feature[at - j]
        if j == feature_bytes - 1:
            last = 7
        else:
            last = 8
        for i in range(last):
            if bits >> i & 1:
                out[to] = row[8 * j + i]
                to += 1
    return to


class Scan:
    """Scans a pool for one reading at a time: `begin`, then `advance` until it returns 0.

    If `advance` returns more, that is the degree of the match and the notification is vector[:length].
    `combine` evaluates the aggregators above MOST_BASIC, as watchdog.grader calls it. Features in `have` and
    `served` have the age bit set, because every notification has an age.
    """

    def __init__(self, pool: Pool, exact: bool, lifetime: int, combine) -> None:  # type: ignore[no-untyped-def]
        feature_bytes = pool.feature_bytes
        self.pool = pool
        self.exact = exact
        self.combine = combine
        self.vector = bytearray(6 + 10 * feature_bytes)
        self.vector[2] = lifetime
        self.length = 0
        self.row = self.event = self.have = self.served = bytearray(feature_bytes)
        self.mask = self.event  # type: bytes | bytearray
        self.degrees = bytearray(16 * feature_bytes)
        self.rows = {}  # type: dict[int, bytearray]
        self.present = self.next = self.served_end = 0
        if exact:
            self.rank = 0
        self.prepare()

    def prepare(self) -> None:
        """Make room for what one reading may ask and release; call it after the pool changed."""
        F = self.pool.feature_bytes
        self.event = bytearray(F)
        self.have = bytearray(F)
        if self.pool.flat:
            most = self.pool.count
            if F == 1:
                most = min(most, MOST_FEATURES if self.exact else MOST_SERVED)
            self.served = bytearray((most + 1) * (2 + F))
        else:
            self.served = bytearray(len(self.pool.blocks) * F)
        for block in self.pool.blocks:
            if self.pool.flat:
                for i in range(block[1]):
                    rank = block[self.pool.header() + 8 + F + i * (block[0] << 1)]
                    if rank not in self.rows:
                        self.rows[rank] = bytearray(rank)
            else:
                self.rows[block[2 + F]] = bytearray(block[2 + F])

    def begin(self, event: int, number: int, stamp_s: int, row: bytearray, mask: bytearray) -> None:
        """Start over with this reading, whose row and mask must not change until the scan is done."""
        F = self.pool.feature_bytes
        self.row = row
        self.mask = mask
        self.present = self.next = self.served_end = 0
        for i in range(F):
            self.event[i] = 0
            bits = self.have[i] = mask[i]
            self.present |= bits
        self.event[F - 1 - (event >> 3)] = 1 << (event & 7)
        self.have[0] |= 128
        vector = self.vector
        vector[0] = number >> 8
        vector[1] = number & 255
        vector[3] = stamp_s >> 8
        vector[4] = stamp_s & 255

    def advance(self) -> int:
        """Go on to the next notification that the reading is worth; return what released it, 0 if there is
        none.
        """
        F = self.pool.feature_bytes
        served = self.served
        while self.present and self.next < len(self.pool.blocks):
            block = self.pool.blocks[self.next]
            self.next += 1
            saf = 3 + F
            rank = block[saf - 1]
            if not contained(block, 2, self.event, 0, F) or not contained(block, saf, self.have, 0, F):
                continue
            if self.exact:
                if rank == 0:
                    break
                if rank != self.rank:
                    self.rank = rank
                    self.served_end = 0
            end = self.served_end
            while end and not contained(block, saf, served, end - F, F):
                end -= F
            if end:
                continue
            values = self.rows[rank]
            gather(block, saf, F, self.row, values, 0)
            degree_u8 = first_satisfied(
                block,
                11 + 2 * F + self.pool.covering,
                block[3 + 2 * F] if self.pool.covering else block[1],
                values,
                block[saf] >> 7,
                self.degrees,
                self.combine,
            )
            if degree_u8:
                if EARLY and not self.exact and contained(self.mask, 0, block, saf, F):
                    self.present = 0
                self.release(block, saf, degree_u8)
                return degree_u8
        return 0

    def release(self, feature: bytes | bytearray, at: int, degree_u8: int) -> None:
        """Make the notification of the attribute feature at feature[at], whose rank stands before it; where
        a pool is in order the feature is served from now on.
        """
        F = self.pool.feature_bytes
        if feature[at - 1] == 0:
            feature = self.mask
            at = 0
        vector = self.vector
        vector[5] = degree_u8 // 17 << 4
        end = gather(feature, at, F, self.row, vector, 6)
        for i in range(F):
            vector[end + i] = self.event[i]
            if self.pool.flat:
                vector[end + F + i] = feature[at + i]
            else:
                vector[end + F + i] = self.served[self.served_end + i] = feature[at + i]
        vector[end + F] &= 127
        if not self.pool.flat:
            self.served[self.served_end] |= 128
            self.served_end += F
        self.length = end + 2 * F
