"""FNIF of the paper: features are compared subscription by subscription, in no order, without any index.

Nothing is sorted when a subscription comes, and each is looked at for every reading. What is released, and in
which order, is what `watchdog.scan` releases: the largest satisfied feature first. So a reading that releases
something is gone through once more, as the paper says: only subscriptions of other features are judged then.
"""

from watchdog.grader import first_satisfied
from watchdog.pool import FOLLOWERS
from watchdog.scan import Scan, contained, gather


class FlatScan(Scan):
    """Goes over a pool of FNIF, subscription by subscription."""

    def advance(self) -> int:
        """Go on to the next notification that the reading is worth; return what released it, 0 if there is
        none.
        """
        F = self.pool.feature_bytes
        best = self.mask
        place = degree_u8 = 0
        for block in self.pool.blocks:
            if self.present == 0 or block[2] == FOLLOWERS:
                continue
            saf = self.pool.header() + 9 + F
            for _ in range(block[1]):
                if degree_u8 == 0 or follows(block, saf - 1, best, place - 1, F):
                    if self.is_open(block, saf):
                        values = self.rows[block[saf - 1]]
                        gather(block, saf, F, self.row, values, 0)
                        found = first_satisfied(
                            block, saf + F, 1, values, block[saf] >> 7, self.degrees, self.combine
                        )
                        if found:
                            degree_u8 = found
                            best = block
                            place = saf
                saf += block[0] << 1
        if degree_u8:
            self.release(best, place, degree_u8)
        return degree_u8

    def is_open(self, block: bytearray, saf: int) -> bool:
        """Tell whether the reading has what the subscription asks for and no notification serves it yet."""
        F = self.pool.feature_bytes
        if not contained(block, saf - 1 - F, self.event, 0, F) or not contained(block, saf, self.have, 0, F):
            return False
        if self.exact and block[saf - 1] != self.measured:
            return False
        end = self.served_end
        while end and not contained(block, saf, self.served, end - F, F):
            end -= F
        return end == 0


def follows(a: bytes | bytearray, at: int, b: bytes | bytearray, bt: int, feature_bytes: int) -> bool:
    """Tell whether the rank and feature at a[at] are larger than those at b[bt]."""
    i = 0
    while i < feature_bytes and a[at + i] == b[bt + i]:
        i += 1
    return a[at + i] > b[bt + i]
