"""A filter host for boards that hold no more than a pool: install, revise, expire, remove.

It does what watchdog.watchdog does, without memory of what was removed: on a board that small a subscription
that was withdrawn may come back through a mediator that has not heard of it, until it expires. It knows the
basic aggregators, 0 to 5.
"""

from watchdog.codes import BAD_VECTOR, FULL, OVER, STALE, UNKNOWN_LANGUAGE
from watchdog.pool import KEY, Pool
from watchdog.scan import Scan
from watchdog.sharing import enter, leave


class SmallHost:
    """A pool that is filled through a link."""

    def __init__(self, pool: Pool, scan: Scan) -> None:
        self.pool = pool
        self.scan = scan

    def install(
        self, origin: int, id: int, seq: int, language: int, vector: bytes, left_ms: int, now_ms: int
    ) -> int:
        """Look for this subscription for `left_ms` from now on; return what became of it, as the `Watchdog`
        numbers it.
        """
        if language != 1 or (len(vector) > 5 and vector[5] & 15 > 5):
            return UNKNOWN_LANGUAGE
        F = self.pool.feature_bytes
        end = len(vector) - 2 * F
        k = 0
        for i in range(F):
            bits = vector[end + F + i]
            while bits:
                bits &= bits - 1
                k += 1
        if k == 0 or end != 6 + 3 * k:
            return BAD_VECTOR
        for i in range(6, end, 3):
            if vector[i] > vector[i + 1]:
                return BAD_VECTOR
        if left_ms <= 0:
            return OVER
        verdict = self.pool.judge(origin, id, seq)
        if verdict < STALE:
            key = origin << 8 | id
            self.forget(KEY, 3, key, key)
            until_s = (now_ms + left_ms) // 1000 + 1
            length = len(vector)
            if not enter(self.pool, origin, id, seq, until_s, vector, 5, length):
                verdict = FULL
            self.scan.prepare()
        return verdict

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> None:
        """Stop looking for this revision and older ones."""
        if self.pool.judge(origin, id, seq) < STALE:
            self.forget(KEY, 3, origin << 8 | id, origin << 8 | id)

    def forget(self, offset: int, length: int, low: int, high: int) -> None:
        """Stop looking for what `Pool.search` finds: (EXPIRY, 4, 0, now_s) for what is over."""
        address = self.pool.search(offset, length, low, high)
        while address >= 0:
            leave(self.pool, address)
            address = self.pool.search(offset, length, low, high)
        self.scan.prepare()

    def origins(self) -> bytes:
        """Name nobody in summaries: there is no room to. Withdrawals made while the board was out of contact
        are therefore not offered to it; what was withdrawn is looked for until it expires.
        """
        return b""
