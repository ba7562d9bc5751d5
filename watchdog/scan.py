"""The heart of the filter: which notifications is one reading worth? Nothing is allocated to find out.

Subscriptions of one event class form groups by attribute feature. Groups are visited by falling cardinality,
then falling feature; the first subscription of a group that is satisfied releases the notification of that
feature, and the scan goes on with the other groups. A group whose feature is contained in one already
released (`subset`), or equals it (`exact`), is served by that one. Cardinality, containment and equality
leave the age bit out.
"""

from watchdog.grader import Grader
from watchdog.ledger import difference
from watchdog.outbox import Outbox
from watchdog.pool import Pool
from watchdog.reading import Reading


class Scan(Grader):
    """Goes over a pool for one reading at a time: `begin`, then `advance` until it says no.

    After an `advance` that said yes, the notification is vector[:length] and `degree_u8` what released it.
    This class knows the plain aggregators, 0 to 5; one that knows more overrides `combine` and
    `best_over_ages`.
    """

    def __init__(self, pool: Pool, exact: bool, lifetime: int) -> None:
        F = pool.feature_bytes
        super().__init__(F)
        self.pool = pool
        self.exact = exact
        self.outbox = Outbox(F, lifetime)
        self._next = 0

    def prepare(self) -> None:
        """Survey the pool and make room for what one reading may release; call it after the pool changed."""
        self.pool.survey()
        most = len(self.pool.runs) * self.pool.feature_bytes >> 1
        if most > len(self.outbox.served):
            self.outbox.served = bytearray(most)

    def begin(self, reading: Reading) -> None:
        """Start over with this reading, which must not change until the scan is done."""
        self.outbox.begin(reading)
        self._next = 0

    def advance(self) -> bool:
        """Go on to the next notification that the reading is worth; say whether there is one."""
        pool = self.pool
        runs = pool.runs
        F = pool.feature_bytes
        while self._next < len(runs):
            at = runs[self._next]
            end = runs[self._next + 1] - at
            self._next += 2
            block = pool.blocks[at // pool.block_bytes]
            at %= pool.block_bytes
            end += at
            if difference(block, at + 1, self.outbox.event, 0, F):
                continue
            n = self.outbox.wanted(block, at + 2 + F, self.exact)
            while n and at < end:
                degree_u8 = self.grade(block, at + 10 + 2 * F, self.outbox.values, n, block[at + 2 + F] & 128)
                if degree_u8:
                    self.outbox.release(block, at + 2 + F, degree_u8)
                    return True
                at += block[at] << 1
        return False
