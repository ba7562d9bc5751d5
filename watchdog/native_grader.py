"""`watchdog.grader` as machine code, where a board's MicroPython can make it (@micropython.viper).

What is computed, and why, stands there; this is the same with integers and pointers of the machine. It is for
records with distances, all aggregators and the table of slopes, so for boards that have room. There every
number fits 32 bits. Hosts and boards without an emitter cannot import it (watchdog.kernels).
"""

import micropython

from watchdog.aggregators import (
    ARITHMETIC_MEAN,
    HARMONIC_MEAN,
    MAX,
    MOST_BASIC,
    PRODUCT,
    SUMMED_FROM_ZERO,
    WITH_BLOCK,
)
from watchdog.membership import SLOPES


@micropython.viper
def curved_mean(  # type: ignore[no-untyped-def]
    kind: int, degrees, n: int
) -> int:
    """Return the geometric or the harmonic mean of the first n degrees."""
    given = ptr8(degrees)
    reciprocals = 0
    low = 255
    total = 0
    product = 1
    scale = 0
    i = 0
    while i < n:
        a = int(given[i])
        if a == 0:
            return 0
        if a < low:
            low = a
        reciprocals += 8388607 // a + 1
        total += a
        product *= a
        if product >= 4194304:
            product >>= 8
            scale += 1
        i += 1
    mean = (n << 23) // reciprocals
    if mean > low:
        low = mean
    high = low
    if kind != int(HARMONIC_MEAN):
        high = total // n
    while low < high:
        middle = (low + high + 1) >> 1
        power = 1
        left = scale
        i = n
        while i:
            power *= middle
            if power >= 4194304:
                power = (power + 255) >> 8
                left -= 1
            i -= 1
        if left > 0 or (left == 0 and power <= product):
            low = middle
        else:
            high = middle - 1
    return low


@micropython.viper
def first_satisfied(  # type: ignore[no-untyped-def]
    block,
    at: int,
    count: int,
    values,
    aged: int,
    degrees,
    combine,
) -> int:
    """Return the degree of the first of so many subscriptions of a pool's block that is satisfied, or 0."""
    b = ptr8(block)
    row = ptr8(values)
    found = ptr8(degrees)
    slopes = ptr16(SLOPES)
    maximum = int(MAX)
    product = int(PRODUCT)
    most_basic = int(MOST_BASIC)
    arithmetic = int(ARITHMETIC_MEAN)
    summed = int(SUMMED_FROM_ZERO)
    with_block = int(WITH_BLOCK)
    m = int(len(values))
    n = m + aged
    stride = int(b[0]) << 1
    head = -1
    need = 0
    kind = 0
    while count > 0:
        count -= 1
        if int(b[at]) != head:
            head = int(b[at])
            kind = head & 15
            need = (head >> 4) * 17
            if need == 0:
                need = 1
        first = at + 1
        if (with_block >> kind) & 1:
            first += 1 + int(b[first])
        p = first
        i = 0
        if kind == maximum:
            while i < m:
                x = int(row[i])
                r = int(b[p + 3])
                if x + r >= int(b[p]) and x - r <= int(b[p + 1]):
                    break
                p += 4
                i += 1
            passed = i < m or aged != 0
        else:
            while i < m:
                x = int(row[i])
                r = int(b[p + 3])
                if x + r < int(b[p]) or x - r > int(b[p + 1]):
                    break
                p += 4
                i += 1
            passed = i == m
        if passed:
            p = first
            total = 0
            if kind & summed == 0:
                total = 255
            i = 0
            while i < m:
                x = int(row[i])
                a = int(b[p]) - x
                if a < 0:
                    a = x - int(b[p + 1])
                g = int(b[p + 2])
                if a > 0:
                    a = 255 - ((a * int(slopes[g & 127]) + 128) >> 8)
                    if a < 0:
                        a = 0
                else:
                    a = 255
                if g > 127:
                    a = 255 - a
                if kind > product:
                    total += a
                    found[i] = a
                elif kind == product:
                    total = (total * a + 127) // 255
                elif kind == maximum:
                    if a > total:
                        total = a
                elif a < total:
                    total = a
                p += 4
                i += 1
            if aged and kind & summed:
                total += 255
                found[m] = 255
            if kind > most_basic:
                total = int(combine(block, at, degrees, n, aged))
            elif kind > product:
                total = (total + total + n) // (n << 1)
                if kind > arithmetic and total >= need:
                    total = int(curved_mean(kind, degrees, n))
            if total >= need:
                if total > 255:
                    total = 255
                return total
        at += stride
    return 0
