"""How well a packed subscription is satisfied: memberships and a plain aggregator, without allocating.

The age of an event is not known at its source. A constraint on it is taken as fulfilled or as failed,
whichever gives the subscription the larger degree, so that nothing is dropped that will match later.
"""

from watchdog.aggregate import aggregate
from watchdog.membership import SLOPES


class Grader:
    """Knows the plain aggregators, 0 to 5; one that knows more overrides `combine` and `best_over_ages`."""

    def __init__(self, feature_bytes: int) -> None:
        self.degrees = bytearray(16 * feature_bytes)

    def grade(self, block: bytearray, body: int, values: bytearray, n: int, aged: int) -> int:
        """Return the degree of the subscription whose byte 5 stands at block[body], or 0 if it is not
        enough.

        `values` are those of its n attributes, lowest first; `aged` is not 0 when the last is the event's
        age.
        """
        head = block[body]
        need = (head >> 4) * 17 or 1
        head &= 15
        at = body + 1
        if head > 5:
            at += 1 + block[at]
        degrees = self.degrees
        slopes = SLOPES
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
