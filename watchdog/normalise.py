"""From what a sensor or a file says to a byte, without a float.

A reading is a decimal number; scaled by ten to the power of its attribute's `decimals` it is an integer, and
its place in the attribute's domain, scaled alike, is its byte. Most attributes have one straight line from
their domain to the bytes; one with a scale has several, each from one breakpoint to the next.
"""

FARTHEST = 536870911
"""Scaled numbers stop here on both sides: far outside of every domain, and still small for a board."""


def scale_decimal(text: str, decimals: int) -> int | None:
    """Return the decimal number in `text` times 10**decimals, rounded half away from zero; None if it is
    none.

    Spaces around it and a sign are allowed; an exponent, a separator or anything else makes it unreadable.
    What is too large to matter is given as `FARTHEST`.
    """
    text = text.strip()
    negative = text.startswith("-")
    if negative or text.startswith("+"):
        text = text[1:]
    value = 0
    digits = 0
    behind = -1
    for character in text:
        if character == ".":
            if behind >= 0:
                return None
            behind = 0
            continue
        digit = ord(character) - 48
        if not 0 <= digit <= 9:
            return None
        digits += 1
        if behind < 0:
            value = _appended(value, digit)
        elif behind < decimals:
            value = _appended(value, digit)
            behind += 1
        elif behind == decimals:
            if digit >= 5 and value < FARTHEST:
                value += 1
            behind += 1
    if digits == 0:
        return None
    if behind < 0:
        behind = 0
    while behind < decimals:
        value = _appended(value, 0)
        behind += 1
    return -value if negative else value


def _appended(value: int, digit: int) -> int:
    """Return value·10 + digit, or FARTHEST when that is beyond it."""
    return value * 10 + digit if value < 53687091 else FARTHEST


def normal_byte(x: int, lo: int, hi: int, inner: tuple[int, ...] = ()) -> int:
    """Return the byte of the scaled value x in the scaled domain lo < hi; what lies outside is clipped.

    `inner` has the breakpoints of a scale between the ends: value, byte, value, byte …, both rising.
    hi - lo stays below 2**21, so that no product reaches 2**30.
    """
    first = 0
    last = 255
    i = 0
    while i < len(inner):
        if x < inner[i]:
            hi = inner[i]
            last = inner[i + 1]
            break
        lo = inner[i]
        first = inner[i + 1]
        i += 2
    if x <= lo:
        return first
    if x >= hi:
        return last
    return first + (2 * (last - first) * (x - lo) + (hi - lo)) // (2 * (hi - lo))
