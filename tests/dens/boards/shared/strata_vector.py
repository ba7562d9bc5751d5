"""A stratified sample of vectors, whole and damaged: the offset at which each is refused, or 99."""

from watchdog.vector import VectorError, check_subscription


def refused_at(b: bytearray) -> int:
    """Return where b is refused, or 99."""
    try:
        check_subscription(b, 1)
    except VectorError as error:
        return error.offset
    return 99


def checksums() -> list[int]:
    """Return a checksum over every byte changed in three ways, for a plain vector and one with a pattern."""
    found = []
    for good in (
        b"\x00\x15\xc8\x89\xee\x00\x44\x7f\x7f\x2d\x2d\x7f\xbf\xc6\x09\x01\x07",
        b"\x00\x15\xc8\x89\xee\x0f\x06\x00\x02\x82\x01\xc0\x42\x44\x7f\x7f\x2d\x2d\x7f\xbf\xc6\x09\x01\x07",
    ):
        total = refused_at(bytearray(good))
        for at in range(len(good)):
            for change in (1, 16, 128):
                bad = bytearray(good)
                bad[at] ^= change
                total = (total * 251 + refused_at(bad)) % 4194301
        found.append(total)
    return found
