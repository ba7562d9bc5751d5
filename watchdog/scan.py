"""The heart of the filter: which notifications is one reading worth? Nothing is allocated to find out.

Subscriptions of one event class form groups by attribute feature. Groups are visited by falling cardinality,
then falling feature; the first subscription of a group that is satisfied releases the notification of that
feature, and the scan goes on with the other groups. A group whose feature is contained in one already
released (`subset`), or equals it (`exact`), is served by that one. Cardinality, containment and equality
leave the age bit out.

The age of an event is not known at its source. A constraint on it is taken as fulfilled or as failed,
whichever gives the subscription the larger degree, so that nothing is dropped that will match later.
"""

from watchdog.aggregate import aggregate
from watchdog.ledger import difference
from watchdog.membership import SLOPES
from watchdog.outbox import Outbox
from watchdog.pool import Pool
from watchdog.reading import Reading


class Scan:
    """Goes over a pool for one reading at a time: `begin`, then `advance` until it says no.

    After an `advance` that said yes, the notification is vector[:length] and `degree_u8` what released it.
    This class knows the plain aggregators, 0 to 5; one that knows more overrides `combine` and
    `best_over_ages`.
    """

    def __init__(self, pool: Pool, exact: bool, lifetime: int) -> None:
        F = pool.feature_bytes
        self.pool = pool
        self.exact = exact
        self.outbox = Outbox(F, lifetime)
        self.degrees = bytearray(16 * F)
        self._values = bytearray(8 * F)
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
            n = self._wanted(block, at + 2 + F)
            while n and at < end:
                degree_u8 = self._degree(block, at + 10 + 2 * F, n)
                if degree_u8:
                    self.outbox.release(block, at + 2 + F, degree_u8)
                    return True
                at += block[at] << 1
        return False

    def _wanted(self, block: bytearray, saf: int) -> int:
        """Take the values that this feature needs; return how many they are, the age included.

        0 means that the reading lacks one, or that a notification already released serves this feature.
        """
        outbox = self.outbox
        reading = outbox.reading
        F = self.pool.feature_bytes
        at = 0
        while at < outbox.served_end:
            i = 0
            while i < F and not block[saf + i] & (255 if i else 127) & ~outbox.served[at + i]:
                i += 1
            if i == F:
                return 0
            at += F
        n = 0
        any_present = 0
        i = F
        while i:
            i -= 1
            bits = block[saf + i]
            present = reading.mask[i]
            if i == 0:
                present |= 128
            any_present |= reading.mask[i]
            if bits & ~present or (self.exact and (bits ^ reading.mask[i]) & (255 if i else 127)):
                return 0
            attribute = F - 1 - i << 3
            while bits:
                if bits & 1:
                    self._values[n] = reading.row[attribute]
                    n += 1
                bits >>= 1
                attribute += 1
        return n if any_present else 0

    def _degree(self, block: bytearray, body: int, n: int) -> int:
        """Return the degree of the subscription whose byte 5 stands at block[body], or 0 if it is not
        enough.
        """
        head = block[body]
        need = (head >> 4) * 17 or 1
        head &= 15
        at = body + 1
        if head > 5:
            at += 1 + block[at]
        degrees = self.degrees
        values = self._values
        slopes = SLOPES
        aged = block[body - 8 - self.pool.feature_bytes] & 128
        i = 0
        while i < n:
            x = values[i]
            a = block[at]
            if x < a:
                a = 255 - ((a - x) * slopes[block[at + 2] & 127] + 128 >> 8)
            else:
                a = block[at + 1]
                if x > a:
                    a = 255 - ((x - a) * slopes[block[at + 2] & 127] + 128 >> 8)
                else:
                    a = 255
            if a < 0:
                a = 0
            if block[at + 2] & 128:
                a = 255 - a
            i += 1
            if a < need and not head and not (aged and i == n):
                return 0
            degrees[i - 1] = a
            at += 3
        a = self.best_over_ages(block, body, n) if aged else self.combine(block, body, n)
        return a if a >= need else 0

    def combine(self, block: bytearray, body: int, n: int) -> int:
        """Return the first n of `degrees` combined as block[body] asks."""
        return aggregate(block[body] & 15, self.degrees, n)

    def best_over_ages(self, block: bytearray, body: int, n: int) -> int:
        """Return the largest degree that any age gives: the plain aggregators rise with every membership."""
        self.degrees[n - 1] = 255
        return self.combine(block, body, n)
