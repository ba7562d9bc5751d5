"""A filter host for boards with memory for a pool only: install, revise, expire, remove.

Unlike watchdog.watchdog it does not remember removals: on a board that small a withdrawn subscription may
come back through a mediator that does not know of the withdrawal, until it expires. It supports the basic
aggregators, 0 to 5.
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
        """Install this subscription for `left_ms`; return a result code (watchdog.codes)."""
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
        """Remove this revision and older ones."""
        if self.pool.judge(origin, id, seq) < STALE:
            self.forget(KEY, 3, origin << 8 | id, origin << 8 | id)

    def forget(self, offset: int, length: int, low: int, high: int) -> None:
        """Remove all records that `Pool.search` finds; (EXPIRY, 4, 0, now_s) finds expired ones."""
        address = self.pool.search(offset, length, low, high)
        while address >= 0:
            leave(self.pool, address)
            address = self.pool.search(offset, length, low, high)
        self.scan.prepare()

    def origins(self) -> bytes:
        """Return an empty summary, for lack of memory. Withdrawals made while the board was out of contact
        are therefore not offered to it; such subscriptions stay installed until they expire.
        """
        return b""
