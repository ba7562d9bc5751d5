"""The filter of the fuzzy language for one source, on boards and hosts."""

from watchdog.forms import combine_every
from watchdog.kernels import SCANS
from watchdog.pool import EXPIRY, NEVER, SEQ, Pool
from watchdog.reading import Reading, Release
from watchdog.sharing import enter, leave, vector_part
from watchdog.vector import ONE_HOUR, check_subscription


class PoolFull(Exception):
    """The pool is full; nothing was changed."""


class FuzzyFilter:
    """Releases a reading that satisfies at least one subscription.

    `features` is the feature condition: "subset", so that one notification serves many subscriptions, or
    "exact". `lifetime` is the lifetime code of notifications. Subscriptions are stored in `pool`, which is
    bounded and determines the algorithm. Equal ones share a record (watchdog.sharing).
    """

    def __init__(
        self,
        feature_bytes: int = 1,
        features: str = "subset",
        lifetime: int = ONE_HOUR,
        pool: Pool | None = None,
    ) -> None:
        self.feature_bytes = feature_bytes
        self.pool = Pool(feature_bytes) if pool is None else pool
        kind = SCANS[int(self.pool.flat)]
        self.scan = kind(self.pool, features == "exact", lifetime, combine_every)
        self._changed = False

    def add(self, key: tuple[int, int], vector: bytes) -> None:
        """Install a subscription; a known key is replaced.

        A malformed vector raises VectorError, a full pool PoolFull; then nothing has changed.
        """
        check_subscription(vector, self.feature_bytes)
        pool = self.pool
        address = pool.find(key[0], key[1])
        if address >= 0:
            older = vector_part(pool, address)
            seq, expires_s = pool.field(address, SEQ, 1), pool.field(address, EXPIRY, 4)
            leave(pool, address)
        if not enter(pool, key[0], key[1], vector[1], NEVER, vector, 5, len(vector)):
            if address >= 0:
                enter(pool, key[0], key[1], seq, expires_s, older, 0, len(older))
            raise PoolFull("no room for a subscription of %d bytes" % len(vector))
        self._changed = True

    def remove(self, key: tuple[int, int]) -> None:
        """Remove a subscription; an unknown key is ignored."""
        address = self.pool.find(key[0], key[1])
        if address >= 0:
            leave(self.pool, address)
            self._changed = True

    def prepare(self) -> None:
        """Prepare for readings after changes, so that the next one allocates nothing."""
        if self._changed:
            self.scan.prepare()
            self._changed = False

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications that this reading releases, most attributes first."""
        self.prepare()
        releases = []
        scan = self.scan
        scan.begin(reading.event, reading.number, reading.stamp_s, reading.row, reading.mask)
        degree_u8 = scan.advance()
        while degree_u8:
            releases.append(Release(bytes(scan.vector[: scan.length]), degree_u8, scan.vector[2]))
            degree_u8 = scan.advance()
        return releases
