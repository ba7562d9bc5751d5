"""The watchdog of one source: accepts subscriptions from the overlay, expires them, and feeds the filters.

It identifies subscriptions by (origin, id) and revision, independent of their language; the filters interpret
them. A removed subscription stays removed: during its lifetime only a newer revision brings it back.
"""

from watchdog.codes import (
    ABSENT,
    BAD_VECTOR,
    FULL,
    INSTALLED,
    KNOWN,
    NOT_MEASURED,
    OVER,
    REMOVED,
    REPLACED,
    SOURCE_FAILED,
    STALE,
    UNKNOWN_LANGUAGE,
    UNKNOWN_SOURCE,
    WITHDRAWN,
)
from watchdog.damper import HYSTERESIS, INTERVAL
from watchdog.execution import ExecutionEnvironment
from watchdog.filter import PoolFull
from watchdog.pool import EXPIRY, KEY, NEVER, SEQ, Pool
from watchdog.reading import Reading, Release
from watchdog.vector import VectorError, is_newer

SENTENCES = {
    INSTALLED: "the source looks for it from now on",
    KNOWN: "this revision is installed; its lifetime was renewed",
    REPLACED: "it replaced an older revision",
    STALE: "a newer revision is installed; nothing changed",
    FULL: "the pool is full; nothing was evicted",
    UNKNOWN_LANGUAGE: "this source has no filter for its language",
    BAD_VECTOR: "its vector is malformed",
    OVER: "its lifetime is over",
    WITHDRAWN: "it was removed, and this copy is not newer",
    REMOVED: "the source no longer looks for it",
    ABSENT: "it is not installed; an older or equal copy will be refused",
    NOT_MEASURED: "no source here measures what it asks for",
    UNKNOWN_SOURCE: "what measures it has a protocol and content type that no class here reads",
    SOURCE_FAILED: "what measures it could not be started",
}
"""What each answer means."""

WORDS = {INTERVAL: "interval", HYSTERESIS: "hysteresis"}
"""The rules that hold notifications back, as counters and traces name them."""

REMEMBERED_S = 86400
"""How long a removal is remembered when nothing is known of the subscription's lifetime."""

_NOTHING = b"\x00\x00\x00"
"""What a pool holds of a subscription that rests elsewhere: no threshold and no feature."""


class Watchdog:
    """Guards one source with one filter for each language id."""

    def __init__(
        self,
        filters: dict,  # type: ignore[type-arg]
        capacity: int = 4096,
        remembered_removals: int = 64,
        dampers: dict | None = None,  # type: ignore[type-arg]
        environment: ExecutionEnvironment | None = None,
    ) -> None:
        """`filters` maps language ids to filters, which raise VectorError for invalid subscriptions.
        `dampers` suppress notifications without new information (watchdog.damper), by language id too. The
        environment runs the sources that are needed, and refuses subscriptions that none serves; without one
        all are accepted.
        """
        self.filters = filters
        self.capacity = capacity
        self.counters = {
            "readings": 0,
            "released": 0,
            "refused": 0,
            "expired": 0,
            "clipped": 0,
            "missing": 0,
            "interval": 0,
            "hysteresis": 0,
        }
        self.suppressed = None  # type: str | None  # the rule that last held something of this reading back
        self.environment = environment
        self._dampers = {} if dampers is None else dampers
        self._pools = {}  # type: dict[int, Pool]
        for language in filters:
            self._pools[language] = getattr(filters[language], "pool", None) or Pool()
        self._removed = Pool(1, 5 + 10 * remembered_removals, 1)
        self._soonest_s = NEVER

    def install(
        self, origin: int, id: int, seq: int, language: int, vector: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        """Install this subscription for `remaining_ms`; return a result code (see SENTENCES)."""
        self.expire(now_ms)
        code = self._install(origin, id, seq, language, vector, remaining_ms, now_ms)
        if code >= STALE:
            self.counters["refused"] += 1
        return code

    def _install(
        self, origin: int, id: int, seq: int, language: int, vector: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        if language not in self.filters:
            return UNKNOWN_LANGUAGE
        if remaining_ms <= 0:
            return OVER
        gone = self._removed.find(origin, id)
        if gone >= 0 and self._removed.field(gone, EXPIRY, 4) <= now_ms // 1000:
            self._removed.remove(gone)
            gone = -1
        if gone >= 0 and not is_newer(seq, self._removed.field(gone, SEQ, 1)):
            return WITHDRAWN
        expires_s = min((now_ms + remaining_ms + 999) // 1000, NEVER)
        pool = self._pools[language]
        verdict = pool.judge(origin, id, seq)
        if verdict == STALE:
            return STALE
        if verdict != KNOWN:
            held_elsewhere = self._held(origin, id)
            if held_elsewhere < 0 and self.interested() >= self.capacity:
                return FULL
            code = self._enter(origin, id, language, vector)
            if code != INSTALLED:
                return code
            if pool.find(origin, id) < 0 or pool is not getattr(self.filters[language], "pool", None):
                pool.put(origin, id, seq, expires_s, _NOTHING, 0, 3)
            if held_elsewhere >= 0 and held_elsewhere != language:
                self._drop(held_elsewhere, origin, id)
                verdict = REPLACED
            if gone >= 0:
                self._removed.remove(gone)
        pool.renew(pool.find(origin, id), seq, expires_s)
        self._soonest_s = min(self._soonest_s, expires_s)
        return verdict

    def _enter(self, origin: int, id: int, language: int, vector: bytes) -> int:
        """Put a subscription into its filter, and start what serves it; INSTALLED, or why it is refused."""
        environment = self.environment
        code = INSTALLED
        try:
            sources = 0 if environment is None else environment.admit(language, vector)
            if sources < 0:
                return -sources
            self.filters[language].add((origin, id), vector)
            if environment is not None:
                environment.keep(origin, id, sources)
        except (PoolFull, MemoryError):
            code = FULL
        except VectorError:
            code = BAD_VECTOR
        finally:
            if environment is not None:
                environment.settle()  # stop a source that was started unnecessarily
        return code

    def _held(self, origin: int, id: int) -> int:
        """Return the language in which a subscription is held, or -1."""
        for language in self._pools:
            if self._pools[language].find(origin, id) >= 0:
                return language
        return -1

    def _drop(self, language: int, origin: int, id: int) -> None:
        self.filters[language].remove((origin, id))
        pool = self._pools[language]
        address = pool.find(origin, id)
        if address >= 0:
            pool.remove(address)

    def _forget_sources(self, origin: int, id: int) -> None:
        """Let the sources rest that ran for this subscription alone."""
        if self.environment is not None:
            self.environment.forget(origin, id)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> int:
        """Stop looking for this revision and older ones: REMOVED, ABSENT, or STALE if a newer one is held."""
        self.expire(now_ms)
        language = self._held(origin, id)
        expires_s = now_ms // 1000 + REMEMBERED_S
        code = ABSENT
        if language >= 0:
            pool = self._pools[language]
            address = pool.find(origin, id)
            if is_newer(pool.field(address, SEQ, 1), seq):
                return STALE
            expires_s = pool.field(address, EXPIRY, 4)
            self._drop(language, origin, id)
            self._forget_sources(origin, id)
            code = REMOVED
        removed = self._removed
        gone = removed.find(origin, id)
        if gone >= 0:
            if is_newer(seq, removed.field(gone, SEQ, 1)):
                removed.renew(gone, seq, expires_s)
        elif not removed.put(origin, id, seq, expires_s, _NOTHING, 0, 3):
            removed.remove(removed.first_expired(removed.next_expiry_s()))
            removed.put(origin, id, seq, expires_s, _NOTHING, 0, 3)
        return code

    def expire(self, now_ms: int) -> int:
        """Forget what is over; return how many subscriptions were."""
        now_s = now_ms // 1000
        if now_s < self._soonest_s:
            return 0
        over = 0
        soonest = NEVER
        for language in self._pools:
            pool = self._pools[language]
            address = pool.first_expired(now_s)
            while address >= 0:
                key = pool.field(address, KEY, 3)
                self._drop(language, key >> 8, key & 255)
                self._forget_sources(key >> 8, key & 255)
                over += 1
                address = pool.first_expired(now_s)
            soonest = min(soonest, pool.next_expiry_s())
        self._soonest_s = soonest
        self.counters["expired"] += over
        return over

    def next_expiry_ms(self) -> int | None:
        """Return when the next subscription is over, or None."""
        return None if self._soonest_s == NEVER else self._soonest_s * 1000

    def interested(self) -> int:
        """Return how many subscriptions are looked for."""
        count = 0
        for language in self._pools:
            count += self._pools[language].count
        return count

    def judged(self) -> int:
        """Return how many records the filters look at for a reading; equal subscriptions are one."""
        count = 0
        for language in self._pools:
            count += self._pools[language].judged()
        return count

    def origins(self) -> bytes:
        """Return a summary that names whose subscriptions are looked for, for a publisher on a board.

        A summary says numbers of messages. The highest number there is stands for an origin of which
        something is known, so that a mediator offers its withdrawals, and no message is taken to be known
        that is not. As many origins are named as a board's datagram has room for.
        """
        found = []  # type: list[int]
        for language in self._pools:
            pool = self._pools[language]
            for number in range(len(pool.blocks)):
                block = pool.blocks[number]
                for i in range(block[1]):
                    at = pool.header() + i * (block[0] << 1)
                    origin = block[at] << 8 | block[at + 1]
                    if origin not in found:
                        found.append(origin)
        found.sort()
        summary = b""
        last = -1
        for origin in found[:8]:
            step = origin - last - 1
            while step > 127:
                summary += bytes([step & 127 | 128])
                step >>= 7
            summary += bytes([step]) + b"\x00\xff\xff\xff\xff\x07\x00"
            last = origin
        return summary

    def feed(self, reading: Reading, now_ms: int) -> list[tuple[int, Release]]:
        """Return (language, release) for every notification that this reading is worth."""
        self.expire(now_ms)
        self.counters["readings"] += 1
        self.suppressed = None
        found = []
        for language in self.filters:
            for release in self.filters[language].feed(reading):
                if language in self._dampers:
                    verdict = self._dampers[language].judge(release.vector, now_ms)
                    if verdict:
                        self.suppressed = WORDS[verdict]
                        self.counters[WORDS[verdict]] += 1
                        continue
                found.append((language, release))
        self.counters["released"] += len(found)
        return found
