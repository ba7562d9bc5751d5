"""How well packed subscriptions are satisfied: memberships and aggregators, without allocating.

Most subscriptions are not satisfied by most readings, and most of those by the distance of one value alone.
So the pool keeps for every constraint the distance r beyond which nothing can be satisfied, and only a
subscription whose values all lie within it (for `max`: any of them) is judged exactly.

The age of an event is not known at its source. A constraint on it is taken as fulfilled or as failed,
whichever gives the subscription the larger degree, so that nothing is dropped that will match later.
"""

from watchdog.aggregate import curved_mean
from watchdog.aggregators import ARITHMETIC_MEAN, MAX, MOST_BASIC, PRODUCT, SUMMED_FROM_ZERO, WITH_BLOCK
from watchdog.membership import SLOPES
from watchdog.octave import OCTAVE

PATTERNS = 1
"""Whether aggregators above MOST_BASIC are known; a build for a small board sets it to 0."""

MEANS = 1
"""Whether the geometric and the harmonic mean are worked out. Where they are not, the arithmetic mean, which
is never less, lets through what they might; a mediator decides.
"""

QUICK = 1
"""Whether records hold the distance r; without it a record is shorter, and every one is judged exactly."""


TABLE = 1
"""Whether the slopes of all codes lie in the heap, 272 bytes; without, each is worked out from its octave
when it is needed, for about a thousand instructions more.
"""


def first_satisfied(  # type: ignore[no-untyped-def]
    block: bytearray, at: int, count: int, values: bytearray, aged: int, degrees: bytearray, combine
) -> int:
    """Return the degree of the first of so many subscriptions of a pool's block that is satisfied, or 0.

    Byte 5 of the first one stands at block[at], and all ask for the same feature. `values` are those of the
    attributes that they ask for, lowest first, without the event's age; `aged` is 1 when they ask for that
    too, else 0. `degrees` is scratch, and `combine` knows the aggregators above MOST_BASIC.
    """
    if TABLE:
        slopes = SLOPES
    n = len(values) + aged
    stride = block[0] << 1
    head = -1
    need = kind = 0
    alone = False
    for _ in range(count):
        if block[at] != head:
            head = block[at]
            need = (head >> 4) * 17 or 1
            kind = head & 15
            alone = kind == MAX
        p = at + 1
        if PATTERNS and WITH_BLOCK >> kind & 1:
            p += 1 + block[p]
        if QUICK:
            passed = alone
            for x in values:
                r = block[p + 3]
                if (x + r < block[p] or x - r > block[p + 1]) is not alone:
                    break
                p += 4
            else:
                passed = not alone or aged > 0
        if not QUICK or passed:
            if QUICK:
                p = at + 1
                if PATTERNS and WITH_BLOCK >> kind & 1:
                    p += 1 + block[p]
            i = 0
            total = 0 if kind & SUMMED_FROM_ZERO else 255
            for x in values:
                a = block[p] - x
                if a < 0:
                    a = x - block[p + 1]
                r = block[p + 2]
                if a > 0:
                    if TABLE:
                        a = max(255 - (a * slopes[r & 127] + 128 >> 8), 0)
                    else:
                        slope = r & 127
                        slope = 65535 if slope > 126 else (OCTAVE[slope % 18] << slope // 18) + 2048 >> 12
                        a = max(255 - (a * slope + 128 >> 8), 0)
                else:
                    a = 255
                if r > 127:
                    a = 255 - a
                if kind > PRODUCT:
                    total += a
                    degrees[i] = a
                    i += 1
                elif kind == PRODUCT:
                    total = (total * a + 127) // 255
                elif (a > total) is alone:
                    total = a
                p += 3 + QUICK
            if aged and kind & SUMMED_FROM_ZERO:
                total += 255
                degrees[i] = 255
            if PATTERNS and kind > MOST_BASIC:
                total = combine(block, at, degrees, n, aged)
            elif kind > PRODUCT:
                total = (total + total + n) // (n << 1)
                if MEANS and kind > ARITHMETIC_MEAN and total >= need:
                    total = curved_mean(kind, degrees, n)
            if total >= need:
                return min(total, 255)
        at += stride
    return 0
