"""What the grader says of pseudo-random subscriptions, packed as a pool packs them, for pseudo-random
readings: whichever form of it is given, the same on every runtime.
"""

from degrees import Chance, fill_body

from watchdog.aggregators import AGGREGATOR_NAMES, WITH_RULES, has_block
from watchdog.forms import combine_every
from watchdog.pool import Pool

SUBSCRIPTIONS = 20
READINGS = 50
PAIRS = SUBSCRIPTIONS * READINGS
"""Pairs per batch; the subscriptions of a batch have one aggregator and one number of attributes."""


def packed(chance: Chance, aggregator: int, k: int, aged: int, is_any: bool) -> bytearray:
    """Return a block of subscriptions to k attributes, and the age if `aged` is 1; with `is_any` their
    thresholds are 0, so that every degree is reported.
    """
    pool = Pool(1, 4096)
    body = bytearray(64)
    n = k + aged
    for number in range(SUBSCRIPTIONS):
        fill_body(chance, body, aggregator, n)
        if aggregator >= 14 and number & 7:
            body[1] = 1
            body[2] = 0
        if is_any:
            body[0] &= 15
        end = 1 + 3 * n
        if has_block(aggregator):
            end += 1 + body[1]
        body[end] = 1
        body[end + 1] = (1 << k) - 1 | aged << 7
        assert pool.put(1, number, 0, 9, body, 0, end + 2)
    return pool.blocks[0]


def checksum(first: int, batches: int, judge) -> int:  # type: ignore[no-untyped-def]
    """Return a checksum over what `judge`, a form of watchdog.grader.first_satisfied, returns for batches
    of pairs. Every eighth has an aggregator that is more than plain; rules are not tried with an age, for
    which they are evaluated 256 times.
    """
    kinds = sorted(AGGREGATOR_NAMES)
    degrees = bytearray(16)
    total = 1
    for batch in range(first, first + batches):
        chance = Chance(batch * 37 + 11)
        aggregator = kinds[6 + batch // 8 % 5] if batch % 8 == 7 else batch % 6
        k = 1 + batch // 3 % 4
        aged = int(batch % 5 == 0 and not WITH_RULES >> aggregator & 1)
        if aggregator > 6 and k == 1:
            k = 3
        block = packed(chance, aggregator, k, aged, batch % 4 < 2)
        values = bytearray(k)
        stride = block[0] << 1
        end = 13 + SUBSCRIPTIONS * stride
        for _ in range(READINGS):
            for i in range(k):
                values[i] = chance.byte()
            for at in range(13, end, stride):
                total = (total * 251 + judge(block, at, 1, values, aged, degrees, combine_every)) % 4194301
    return total
