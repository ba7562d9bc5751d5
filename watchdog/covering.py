"""FNIFC of the paper: a subscription that another one covers is not looked at while the other is there.

*s covers t* when every reading that satisfies t satisfies s. Here both ask for the same feature; then one
notification serves both, and t need not be judged at all: if s is satisfied, its notification is the one that
t waits for, and if it is not, t is not either. What is tested is sufficient: a threshold that is not higher,
an aggregator that is not lower in product ≤ min ≤ harmonic ≤ geometric ≤ arithmetic ≤ max, the order of
watchdog.aggregate, and on every attribute a core that contains the other's with a slope that is not steeper;
for complements the other way round. Aggregators above MOST_BASIC cover what differs from them in nothing but
the threshold.

In a block the active subscriptions come first. Each of the others is covered by an active one, of this block
or another of the same feature; no active one covers another. When one goes, those that it covered, and that
no other does, become active.
"""

from watchdog.aggregators import MOST_BASIC, WITH_BLOCK
from watchdog.pool import Pool

_ASCENDING = b"\x01\x05\x00\x04\x03\x02"
"""The place of each aggregator up to MOST_BASIC in the order above."""


def covers(a: bytes | bytearray, i: int, b: bytes | bytearray, j: int, n: int) -> bool:
    """Return whether the record with byte 5 at a[i] certainly covers the one at b[j]; both have n
    constraints.
    """
    kind = a[i] & 15
    other = b[j] & 15
    if a[i] >> 4 > b[j] >> 4:
        return False
    if kind > MOST_BASIC or other > MOST_BASIC:
        end = i + 1 + 4 * n
        if WITH_BLOCK >> kind & 1:
            end += 1 + a[i + 1]
        return kind == other and bytes(a[i + 1 : end]) == bytes(b[j + 1 : j + 1 + end - i - 1])
    if _ASCENDING[kind] < _ASCENDING[other]:
        return False
    i += 1
    j += 1
    for _ in range(n):
        g = a[i + 2]
        h = b[j + 2]
        if (g ^ h) & 128:
            return False
        if g < 128:
            if a[i] > b[j] or a[i + 1] < b[j + 1] or g > h:
                return False
        elif a[i] < b[j] or a[i + 1] > b[j + 1] or g < h:
            return False
        i += 4
        j += 4
    return True


def exchange(block: bytearray, i: int, j: int) -> None:
    """Exchange two records."""
    for _ in range(block[0] << 1):
        block[i], block[j] = block[j], block[i]
        i += 1
        j += 1


def is_covered(pool: Pool, block: bytearray, at: int) -> bool:
    """Return whether another active record covers the record at block[at]."""
    header = pool.header()
    F = pool.feature_bytes
    n = block[2 + F] + (block[3 + F] >> 7)
    for other in pool.blocks:
        if bytes(other[2 : 3 + 2 * F]) == bytes(block[2 : 3 + 2 * F]):
            p = header
            for _ in range(other[header - 1]):
                if (other is not block or p != at) and covers(other, p + 8, block, at + 8, n):
                    return True
                p += other[0] << 1
    return False


def settle(pool: Pool, address: int) -> None:
    """Find an active record its place: out of the filter's sight if another covers it, and otherwise above
    all that it covers.
    """
    block = pool.blocks[address >> 16]
    at = address & 65535
    header = pool.header()
    F = pool.feature_bytes
    n = block[2 + F] + (block[3 + F] >> 7)
    if is_covered(pool, block, at):
        block[header - 1] -= 1
        exchange(block, at, header + block[header - 1] * (block[0] << 1))
        return
    for other in pool.blocks:
        if bytes(other[2 : 3 + 2 * F]) == bytes(block[2 : 3 + 2 * F]):
            stride = other[0] << 1
            p = header + other[header - 1] * stride
            while p > header:
                p -= stride
                if (other is not block or p != at) and covers(block, at + 8, other, p + 8, n):
                    other[header - 1] -= 1
                    last = header + other[header - 1] * stride
                    exchange(other, p, last)
                    if other is block and last == at:
                        at = p


def rouse(pool: Pool, head: bytes) -> None:
    """Activate the records of a feature that are no longer covered."""
    header = pool.header()
    for number in range(len(pool.blocks)):
        block = pool.blocks[number]
        if bytes(block[2 : len(head) + 2]) == head:
            stride = block[0] << 1
            at = header + block[header - 1] * stride
            while at < header + block[1] * stride:
                if not is_covered(pool, block, at):
                    first = header + block[header - 1] * stride
                    block[header - 1] += 1
                    exchange(block, at, first)
                    settle(pool, number << 16 | first)
                at += stride
