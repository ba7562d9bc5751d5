"""FNIF of the paper: features are compared subscription by subscription, in no order, without any index.

Nothing is sorted when a subscription comes, and each is looked at once for every reading. The pass keeps a
list of the features that are satisfied so far. After a hit it continues with subscriptions of other features
only, as the paper says: under `exact` of features that are not in the list, under `subset` of those that no
feature of the list contains. There a larger feature that is satisfied later takes the place of those that it
contains, so that the same notifications are released as by `watchdog.scan`. Their order is that of the list:

    entry    degree | rank | SAF, with the age bit set
"""

from watchdog.grader import first_satisfied
from watchdog.pool import FOLLOWERS
from watchdog.scan import Scan, contained, gather


class FlatScan(Scan):
    """Goes over a pool of FNIF, subscription by subscription."""

    def advance(self) -> int:
        """Go on to the next notification that the reading is worth; return what released it, 0 if there is
        none. The first call makes the pass.
        """
        F = self.pool.feature_bytes
        if self.present:
            for block in self.pool.blocks:
                if block[2] == FOLLOWERS:
                    continue
                saf = self.pool.header() + 9 + F
                for _ in range(block[1]):
                    if self.is_open(block, saf):
                        values = self.rows[block[saf - 1]]
                        gather(block, saf, F, self.row, values, 0)
                        degree_u8 = first_satisfied(
                            block, saf + F, 1, values, block[saf] >> 7, self.degrees, self.combine
                        )
                        if degree_u8:
                            self.served[self.served_end] = degree_u8
                            self.keep(block, saf)
                    saf += block[0] << 1
            self.present = 0
        at = self.next
        if at == self.served_end:
            return 0
        self.next = at + 2 + F
        self.release(self.served, at + 2, self.served[at])
        return self.served[at]

    def is_open(self, block: bytearray, saf: int) -> bool:
        """Return whether the reading has the subscription's feature and no listed notification serves it."""
        F = self.pool.feature_bytes
        if not contained(block, saf - 1 - F, self.event, 0, F) or not contained(block, saf, self.have, 0, F):
            return False
        rank = block[saf - 1]
        if self.exact and rank == 0:
            return False
        at = self.served_end
        while at:
            at -= 2 + F
            if not self.exact or rank == self.served[at + 1]:
                if contained(block, saf, self.served, at + 2, F):
                    return False
        return True

    def keep(self, block: bytearray, saf: int) -> None:
        """Put a feature behind the list, where its degree stands already; under `subset` drop those that it
        contains.
        """
        F = self.pool.feature_bytes
        served = self.served
        new = self.served_end
        served[new + 1] = block[saf - 1]
        for i in range(F):
            served[new + 2 + i] = block[saf + i]
        served[new + 2] |= 128
        last = new
        if not self.exact:
            at = new
            while at:
                at -= 2 + F
                if contained(served, at + 2, served, new + 2, F):
                    for i in range(2 + F):
                        served[at + i] = served[last + i]
                    last -= 2 + F
        self.served_end = last + 2 + F
