"""A stratified sample of aggregators over one to eight degrees, the same on every runtime."""

from watchdog.aggregate import aggregate


def checksums() -> list[int]:
    """Return one checksum for each plain aggregator."""
    found = []
    degrees = bytearray(8)
    for kind in range(6):
        x = 12345
        total = 1
        for number in range(160):
            n = 1 + number % 8
            for i in range(n):
                x = (x * 1021 + 7919) % 1048573
                degrees[i] = (x >> 12) | (192 if number & 16 else 0)
            total = (total * 251 + aggregate(kind, degrees, n)) % 4194301
        found.append(total)
    return found
