"""The plain aggregators: several degrees become one, in integers below 2**30.

All of them work on the first n bytes of `degrees`. The two means that are no integers by nature are defined
here by what is computed, and every runtime computes exactly this:

    harmonic   h = n·2²³ // Σ ⌈2²³/a⌉, but not less than the smallest a
    geometric  the largest g from h up to the floor of the arithmetic mean with gⁿ ≤ Πa, where the product
               is rounded down and the power is rounded up to 14 bits or more whenever they outgrow 22

Both round towards the smaller side, so h never exceeds the real harmonic mean and g never the real
geometric mean; each stays less than 1.1/255 below it. It follows for the integers, for every n up to 64,
that

    product ≤ min ≤ harmonic ≤ geometric ≤ arithmetic ≤ max

(product ≤ min: one step (p·a + 127) // 255 exceeds neither p nor a; min ≤ h by definition; h ≤ g because
the search begins at h; g ≤ arithmetic because the search ends at its floor, which the rounded mean is never
below), that equal degrees a give a, and that one 0 gives 0. Covering relies on this order.
"""

from watchdog.aggregators import ARITHMETIC_MEAN, GEOMETRIC_MEAN, HARMONIC_MEAN, MAX, MIN, PRODUCT


def smallest(degrees: bytes | bytearray, n: int) -> int:
    """Return the smallest of the first n degrees."""
    least = degrees[0]
    i = 1
    while i < n:
        if degrees[i] < least:
            least = degrees[i]
        i += 1
    return least


def largest(degrees: bytes | bytearray, n: int) -> int:
    """Return the largest of the first n degrees."""
    most = degrees[0]
    i = 1
    while i < n:
        if degrees[i] > most:
            most = degrees[i]
        i += 1
    return most


def curved_mean(kind: int, degrees: bytes | bytearray, n: int) -> int:
    """Return the geometric or the harmonic mean, as `kind` says and the head of this module defines it.

    Both are one function, because the search for the first begins at the second and a board whose stack has
    1,800 bytes has no room for one more call.
    """
    reciprocals = 0
    low = 255
    total = 0
    product = 1
    scale = 0
    i = 0
    while i < n:
        a = degrees[i]
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
    high = low if kind == HARMONIC_MEAN else total // n
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


def aggregate(kind: int, degrees: bytes | bytearray, n: int) -> int:
    """Return the first n degrees combined by a plain aggregator, one without a block.

    This is the one place that knows what each of them does, for boards, filters and compiled searches alike.
    """
    if kind == MIN:
        return smallest(degrees, n)
    if kind == MAX:
        return largest(degrees, n)
    if kind == GEOMETRIC_MEAN or kind == HARMONIC_MEAN:
        return curved_mean(kind, degrees, n)
    i = 0
    if kind == PRODUCT:
        product = 255
        while i < n:
            product = (product * degrees[i] + 127) // 255
            i += 1
        return product
    if kind == ARITHMETIC_MEAN:
        total = n
        while i < n:
            total += degrees[i] << 1
            i += 1
        return total // (n << 1)
    raise ValueError("no code in aggregate() for this aggregator")


def weighted_mean(weights: bytes | bytearray, at: int, degrees: bytes | bytearray, n: int) -> int:
    """Return the mean of the first n degrees weighted by the n bytes of `weights` from `at` on; their sum
    is not 0.
    """
    total = 0
    weight = 0
    i = 0
    while i < n:
        w = weights[at + i]
        total += w * degrees[i]
        weight += w
        i += 1
    return ((total << 1) + weight) // (weight << 1)
