"""A stratified sample of memberships: every slope code, both sides, plain and complemented."""

from watchdog.membership import degree


def checksums() -> list[int]:
    """Return one checksum for each eighth of the slope codes."""
    found = []
    x = 54321
    for g in range(256):
        if g % 32 == 0:
            found.append(1)
        for _ in range(4):
            x = (x * 1021 + 7919) % 1048573
            v = x >> 12
            found[-1] = (found[-1] * 251 + degree(x & 255, v >> 1, 128 + (v >> 1), g)) % 4194301
    return found
