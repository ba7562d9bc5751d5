"""Lifetimes and ages in one byte: the code q means ⌊2^(q/8)⌋ seconds.

Messages carry their age in milliseconds in four bytes, which limits lifetimes: all codes from 177 on mean
`LONGEST_LIFETIME_S`, 49.7 days. Longer lifetimes are refused or reported.
"""

LONGEST_LIFETIME_S = 4294967

_ROOTS = (
    b"\x80\x00\x00\x00\x8b\x95\xc1\xe3\x98\x37\xf0\x51\xa5\xfe\xd6\xa9"
    b"\xb5\x04\xf3\x33\xc5\x67\x2a\x11\xd7\x44\xfc\xca\xea\xc0\xc6\xe7"
)
"""⌊2^(31 + j/8)⌋ for j = 0..7, four bytes each."""


def lifetime_s(q: int) -> int:
    """Return the seconds of lifetime code q, at most `LONGEST_LIFETIME_S`."""
    at = (q & 7) * 4
    return min(int.from_bytes(_ROOTS[at : at + 4], "big") >> (31 - (q >> 3)), LONGEST_LIFETIME_S)


def lifetime_code(seconds: int) -> int:
    """Return the least code whose lifetime is long enough, 255 if none is. Ages use the same code."""
    q = 0
    step = 128
    while step:
        if lifetime_s(q + step - 1) < seconds:
            q += step
        step >>= 1
    return q
