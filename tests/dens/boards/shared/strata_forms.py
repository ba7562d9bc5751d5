"""The filter with Cartesian-product forms in use: each is subscribed to beside plain subscriptions, for three
attributes or for two and an age, while readings are judged.
"""

from watchdog.pool import Pool
from watchdog.scan import Scan


def write_wish(vector: bytearray, kind: int, block: bytes, x: int, features: int) -> int:
    """Write a subscription with three constraints; return its end."""
    vector[5] = x % 13 << 4 | kind
    end = 6
    for i in block:
        vector[end] = i
        end += 1
    for _ in range(3):
        x = (x * 1021 + 7919) % 1048573
        vector[end] = x % 200
        vector[end + 1] = vector[end] + x // 200 % 56
        vector[end + 2] = 20 + (x >> 8) % 61 + (x >> 6 & 128)
        end += 3
    vector[end] = 1
    vector[end + 1] = features
    return end + 2


def checksums(pool: Pool, scan: Scan, forms: "tuple[tuple[int, bytes], ...]") -> "list[int]":
    """Return for each form a checksum over what readings release, with the degree that released it."""
    found = []
    vector = bytearray(40)
    row = bytearray(8)
    mask = bytearray(b"\x07")
    x = 4711
    for kind, block in forms:
        for id in range(6):
            x = (x * 1021 + 7919) % 1048573
            plain = id == 5
            end = write_wish(
                vector, id if plain else kind, b"" if plain else block, x, 131 if id % 3 == 1 else 7
            )
            pool.put(300, id, 0, 1000, vector, 5, end)
        scan.prepare()
        total = 1
        for step in range(16):
            for i in range(3):
                x = (x * 1021 + 7919) % 1048573
                row[i] = x >> 12
            mask[0] = 3 if step & 1 else 7
            scan.begin(0, step, step, row, mask)
            degree = scan.advance()
            while degree:
                total = (total * 251 + degree) % 4194301
                for i in range(scan.length):
                    total = (total * 31 + scan.vector[i]) % 4194301
                degree = scan.advance()
        found.append(total)
        while pool.count:
            pool.remove((len(pool.blocks) - 1 << 16) + pool.header())
    return found
