"""Plain scans and those of machine code over the same pools: what they release, side by side."""

from degrees import Chance

from watchdog.codes import ALGORITHMS
from watchdog.fnif import FlatScan
from watchdog.forms import combine_every
from watchdog.pool import Pool
from watchdog.scan import Scan
from watchdog.sharing import enter


def fill(pool: Pool, chance: Chance, count: int) -> None:
    """Enter subscriptions to few attributes, so that many are satisfied, equal, or cover others; some ask for
    the age, and with features of two bytes some for attributes above the seventh.
    """
    F = pool.feature_bytes
    for number in range(count):
        saf = bytearray(F)
        saf[F - 1] = 1 + chance.byte() % 15
        if F > 1:
            saf[0] = chance.byte() & 3
        if chance.byte() < 40:
            saf[0] |= 128
        k = sum([saf[i] >> j & 1 for i in range(F) for j in range(8)])
        vector = bytearray([chance.byte() % 12 << 4 | chance.byte() % 6])
        for _ in range(k):
            v = chance.byte() // 2 & 240
            vector.extend(bytes([v, v + 100, 30 + (chance.byte() & 48) | (chance.byte() == 7) << 7]))
        event = bytearray(F)
        event[F - 1] = 1 << (chance.byte() & 1)
        vector.extend(event)
        vector.extend(saf)
        enter(pool, number, number & 255, 0, 1000, vector, 0, len(vector))


def released(scan: Scan, chance: Chance, readings: int, feature_bytes: int) -> list[bytes]:
    """Return what readings release, each with its degree and all that stands in the scratch of a scan."""
    found = []
    row = bytearray(8 * feature_bytes)
    mask = bytearray(feature_bytes)
    for number in range(readings):
        for i in range(len(row)):
            row[i] = chance.byte()
        mask[feature_bytes - 1] = chance.byte() & 15
        if feature_bytes > 1:
            mask[0] = chance.byte() & 3
        scan.begin(chance.byte() & 1, number, number, row, mask)
        degree = scan.advance()
        while degree:
            found.append(bytes([degree]) + bytes(scan.vector[: scan.length]))
            degree = scan.advance()
        found.append(bytes([scan.advance()]))
    return found


def compared(scans: tuple[type[Scan], type[FlatScan]], seeds: int) -> int:
    """Return how many notifications plain scans and `scans` released, all of them equal."""
    total = 0
    for seed in range(seeds):
        for name in sorted(ALGORITHMS):
            for F in (1, 2):
                pool = Pool(F, 300, 30, ALGORITHMS[name])
                fill(pool, Chance(seed * 13 + F), 5 + seed * 9 % 60)
                is_exact = seed % 3 == 0
                plain = (FlatScan if pool.flat else Scan)(pool, is_exact, 9, combine_every)
                other = scans[int(pool.flat)](pool, is_exact, 9, combine_every)
                one = released(plain, Chance(seed * 7 + 3), 15, F)
                two = released(other, Chance(seed * 7 + 3), 15, F)
                assert one == two, (name, F, seed)
                total += len(one) - 15
    return total
