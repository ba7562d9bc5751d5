"""Lifetimes and ages in one byte, for the whole system: the code q stands for ⌊2^(q/8)⌋ seconds.

What travels has an age of four bytes in milliseconds, so nothing lives longer than they can say: the codes
from 177 on all stand for `LONGEST_LIFETIME_S`, 49.7 days. Who is asked for more refuses it, or says so.
"""

LONGEST_LIFETIME_S = 4294967

_ROOTS = (
    b"\x80\x00\x00\x00\x8b\x95\xc1\xe3\x98\x37\xf0\x51\xa5\xfe\xd6\xa9"
    b"\xb5\x04\xf3\x33\xc5\x67\x2a\x11\xd7\x44\xfc\xca\xea\xc0\xc6\xe7"
)
"""⌊2^(31 + j/8)⌋ for j = 0..7, four bytes each."""


def lifetime_s(q: int) -> int:
    """Return ⌊2^(q/8)⌋, the seconds that the lifetime code q stands for, or the longest there is."""
    at = (q & 7) * 4
    return min(int.from_bytes(_ROOTS[at : at + 4], "big") >> (31 - (q >> 3)), LONGEST_LIFETIME_S)


def lifetime_code(seconds: int) -> int:
    """Return the least code whose lifetime is long enough, or 255 when none is. Ages are coded alike."""
    q = 0
    step = 128
    while step:
        if lifetime_s(q + step - 1) < seconds:
            q += step
        step >>= 1
    return q
