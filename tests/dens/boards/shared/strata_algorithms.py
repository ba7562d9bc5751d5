"""The filter by any algorithm in use: subscriptions, many of them equal or covered, are added, revised and
removed or expire while readings are judged.
"""

from watchdog.pool import EXPIRY, KEY, Pool
from watchdog.scan import Scan
from watchdog.sharing import enter, leave


def write_wish(vector: bytearray, x: int) -> None:
    """Write one of few subscriptions to two of three attributes, so that many are equal or cover others."""
    for i in range(6, 12, 3):
        x = (x * 1021 + 7919) % 1048573
        vector[i] = 60 + 20 * (x % 3)
        vector[i + 1] = 130 + 20 * (x // 3 % 3)
        vector[i + 2] = 40 + 20 * (x // 9 % 2)
    vector[5] = x // 27 % 3 << 5 | x // 81 % 3
    vector[12] = 1
    vector[13] = 3 + x // 243 % 2 * 3


def checksums(pool: Pool, scan: Scan) -> list[int]:
    """Return a checksum over what each of six stretches of readings releases, and how many were held. The
    degree in byte 5 is left out, which may be that of any subscription that is satisfied, and so is the order
    of what one reading releases.
    """
    found = []
    vector = bytearray(14)
    row = bytearray(8)
    mask = bytearray(1)
    x = 4711
    now_s = 0
    for _ in range(6):
        total = 1
        for step in range(20):
            x = (x * 1021 + 7919) % 1048573
            key = 300 << 8 | x % 16
            write_wish(vector, x // 16 % 40)
            address = pool.search(KEY, 3, key, key)
            if address >= 0:
                leave(pool, address)
                total += 1
            if x % 5:
                held = enter(pool, 300, key & 255, step, now_s + 3 + x % 25, vector, 5, 14)
                total = (total * 5 + held) % 4194301
            address = pool.search(EXPIRY, 4, 0, now_s)
            while address >= 0:
                leave(pool, address)
                total += 7
                address = pool.search(EXPIRY, 4, 0, now_s)
            scan.prepare()
            mask[0] = 7 if step & 2 else 6 if step & 1 else 3
            for i in range(3):
                row[i] = 30 + (x >> 4 * i) % 180
            scan.begin(0, step, now_s, row, mask)
            while scan.advance():
                one = 1
                for i in range(scan.length):
                    if i != 5:
                        one = (one * 31 + scan.vector[i]) % 4194301
                total += one
            total %= 4194301
            now_s += 1
        found.append(total)
        found.append(pool.count)
    return found
