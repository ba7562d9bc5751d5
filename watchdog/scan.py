"""The heart of the filter: which notifications is one reading worth? Nothing is allocated to find out.

Subscriptions of one event class form groups by attribute feature. Groups are visited by falling cardinality,
then falling feature (the age bit left out, for a source knows nothing of it); the first subscription of a
group that is satisfied releases the notification of that feature, and the scan goes on with the other
groups. A group whose feature is contained in one already released (`subset`), or equals it (`exact`), is
served by that one.

The age of an event is not known at its source. A constraint on it is taken as fulfilled or as failed,
whichever gives the subscription the larger degree, so that nothing is dropped that will match later. A
function with a table may want something between, so all degrees are tried for it.
"""

from watchdog.membership import SLOPES
from watchdog.pool import Pool
from watchdog.reading import Reading
from watchdog.score import combine, memberships, score
from watchdog.vector import ONE_HOUR, indexes


class Scan:
    """Goes over a pool for one reading at a time: `begin`, then `advance` until it says no.

    After an `advance` that said yes, the notification is vector[:length] and `degree_u8` what released it.
    """

    def __init__(self, pool: Pool, exact: bool = False, lifetime: int = ONE_HOUR) -> None:
        F = pool.feature_bytes
        self.pool = pool
        self.exact = exact
        self.lifetime = lifetime
        self.vector = bytearray(6 + 10 * F)
        self.length = 0
        self.degree_u8 = 0
        self._reading = Reading(F)
        self._cursors = []  # type: list[int]
        self._attributes = bytearray(8 * F)
        self._degrees = bytearray(16 * F)
        self._served = bytearray(F)
        self._served_end = 0
        self._event = bytearray(F)

    def prepare(self) -> None:
        """Make room for what one reading may need; call it after the pool took a subscription."""
        while len(self._cursors) < len(self.pool.blocks):
            self._cursors.append(0)
        groups = 0
        F = self.pool.feature_bytes
        for number in range(len(self.pool.blocks)):
            block = self.pool.blocks[number]
            at = 0
            before = -1
            while at < self.pool.used[number]:
                if before < 0 or not _equal(block, before + 1, block, at + 1, 2 * F):
                    groups += 1
                before = at
                at += block[at] << 1
        if groups * F > len(self._served):
            self._served = bytearray(groups * F)

    def begin(self, reading: Reading) -> None:
        """Start over with this reading, which must not change until the scan is done."""
        F = self.pool.feature_bytes
        self._reading = reading
        self._served_end = 0
        i = 0
        while i < F:
            self._event[i] = 0
            i += 1
        self._event[F - 1 - (reading.event >> 3)] = 1 << (reading.event & 7)
        number = len(self._cursors)
        while number:
            number -= 1
            block = self.pool.blocks[number]
            end = self.pool.used[number]
            at = 0
            while at < end and not _equal(block, at + 1, self._event, 0, F):
                at += block[at] << 1
            self._cursors[number] = at

    def advance(self) -> bool:
        """Go on to the next notification that the reading is worth; say whether there is one."""
        while True:
            number = self._foremost()
            if number < 0:
                return False
            block = self.pool.blocks[number]
            at = self._cursors[number]
            found = self._wanted(block, at + 1 + self.pool.feature_bytes) and self._judge(block, at)
            if found:
                self._release(block, at)
            self._pass(block, at)
            if found:
                return True

    def _foremost(self) -> int:
        """Return the block whose cursor stands at the group to be visited next, or -1."""
        pool = self.pool
        F = pool.feature_bytes
        best = -1
        number = 0
        while number < len(self._cursors):
            block = pool.blocks[number]
            at = self._cursors[number]
            if at < pool.used[number] and _equal(block, at + 1, self._event, 0, F):
                if best < 0 or pool.precedes(
                    pool.blocks[best], self._cursors[best], block, at + 1, block[at + 1 + 2 * F]
                ):
                    best = number
            number += 1
        return best

    def _wanted(self, block: bytearray, saf: int) -> bool:
        """Tell whether the reading has what this feature needs and no released notification serves it
        already.
        """
        F = self.pool.feature_bytes
        mask = self._reading.mask
        if block[saf + F] == 0 and not _any(mask):
            return False
        i = 0
        while i < F:
            known = 127 if i == 0 else 255
            needed = block[saf + i] & known
            if needed & ~mask[i] or (self.exact and needed != mask[i] & known):
                return False
            i += 1
        at = 0
        while at < self._served_end:
            i = 0
            while i < F and not block[saf + i] & (127 if i == 0 else 255) & ~self._served[at + i]:
                i += 1
            if i == F:
                return False
            at += F
        return True

    def _judge(self, block: bytearray, at: int) -> bool:
        """Look in every block for a subscription of this group that is satisfied; leave its degree."""
        pool = self.pool
        F = pool.feature_bytes
        n = indexes(block, at + 1 + F, F, self._attributes)
        aged = self._attributes[n - 1] == 8 * F - 1
        number = 0
        while number < len(self._cursors):
            other = pool.blocks[number]
            other_at = self._cursors[number]
            end = pool.used[number]
            while other_at < end and _equal(other, other_at + 1, block, at + 1, 2 * F):
                body = other_at + pool.header
                if aged:
                    degree_u8 = self._best_over_ages(other, body, n)
                elif other[body] & 15 == 0 and not self._all_reach(other, body, n):
                    degree_u8 = 0
                else:
                    degree_u8 = score(other, body, self._reading.row, self._attributes, n, self._degrees)
                if degree_u8 and degree_u8 >= 17 * (other[body] >> 4):
                    self.degree_u8 = degree_u8
                    return True
                other_at += other[other_at] << 1
            number += 1
        return False

    def _all_reach(self, block: bytearray, body: int, n: int) -> bool:
        """Tell whether every constraint alone reaches the threshold: all that a minimum asks."""
        row = self._reading.row
        attributes = self._attributes
        need = (block[body] >> 4) * 17 or 1
        room = (256 - need << 8) - 128
        i = 0
        at = body + 1
        while i < n:
            x = row[attributes[i]]
            g = block[at + 2]
            if x < block[at]:
                loss = (block[at] - x) * SLOPES[g & 127]
            elif x > block[at + 1]:
                loss = (x - block[at + 1]) * SLOPES[g & 127]
            else:
                loss = 0
            if g & 128:
                if loss + 128 < need << 8:
                    return False
            elif loss >= room:
                return False
            at += 3
            i += 1
        return True

    def _best_over_ages(self, block: bytearray, body: int, n: int) -> int:
        """Return the largest degree that any age gives; the age's constraint is the last."""
        degrees = self._degrees
        aggregator = block[body] & 15
        constraints = body + 1
        if aggregator > 5:
            constraints += 1 + block[constraints]
        memberships(block, constraints, self._reading.row, self._attributes, n, degrees)
        step = 1 if 7 <= aggregator <= 8 else 255
        best = 0
        trial = 0
        while trial < 256:
            degrees[n - 1] = trial
            found = combine(block, body, degrees, n)
            if found > best:
                best = found
            trial += step
        return best

    def _release(self, block: bytearray, at: int) -> None:
        """Write the notification of this group's feature, and note that it is served."""
        F = self.pool.feature_bytes
        reading = self._reading
        vector = self.vector
        saf = at + 1 + F
        feature = block
        if block[at + 1 + 2 * F] == 0:
            feature = reading.mask
            saf = 0
        n = indexes(feature, saf, F, self._attributes)
        if n and self._attributes[n - 1] == 8 * F - 1:
            n -= 1
        vector[0] = reading.number >> 8
        vector[1] = reading.number & 255
        vector[2] = self.lifetime
        vector[3] = reading.stamp_s >> 8
        vector[4] = reading.stamp_s & 255
        vector[5] = self.degree_u8 // 17 << 4
        i = 0
        while i < n:
            vector[6 + i] = reading.row[self._attributes[i]]
            i += 1
        end = 6 + n
        i = 0
        while i < F:
            vector[end + i] = self._event[i]
            used = feature[saf + i] & (127 if i == 0 else 255)
            vector[end + F + i] = used
            self._served[self._served_end + i] = used
            i += 1
        self._served_end += F
        self.length = end + 2 * F

    def _pass(self, block: bytearray, at: int) -> None:
        """Move every cursor that stands at this group behind it."""
        pool = self.pool
        F2 = 2 * pool.feature_bytes
        number = len(self._cursors)
        while number:
            number -= 1
            other = pool.blocks[number]
            end = pool.used[number]
            other_at = self._cursors[number]
            while other_at < end and _equal(other, other_at + 1, block, at + 1, F2):
                other_at += other[other_at] << 1
            self._cursors[number] = other_at


def _equal(a: bytearray, at: int, b: bytearray, bt: int, length: int) -> bool:
    """Tell whether `length` bytes are the same in both."""
    while length:
        length -= 1
        if a[at + length] != b[bt + length]:
            return False
    return True


def _any(mask: bytearray) -> bool:
    """Tell whether anything but the age is set."""
    i = len(mask)
    while i > 1:
        i -= 1
        if mask[i]:
            return True
    return mask[0] & 127 != 0
