"""Rate limit per peer (token bucket) for requests that cost much more than their transmission.

A new session makes a node compare all its messages with a summary and queue what the peer lacks. An honest
peer starts one when a contact opens and after a restart; one that starts them all the time is limited to that
rate. A look-up has an answer longer than itself and causes further look-ups.

Implemented as the generic cell rate algorithm (ITU-T I.371): one number per peer, the time at which its
bucket is full again.
"""


class RateLimit:
    """The buckets of all peers. Full buckets are forgotten."""

    __slots__ = ("_burst_ms", "_every_ms", "_full_ms", "_tidy_at")

    def __init__(self, every_ms: int, burst: int) -> None:
        """One token arrives per `every_ms`; a full bucket has `burst` tokens."""
        self._every_ms = every_ms
        self._burst_ms = every_ms * (burst - 1)
        self._full_ms: dict[int, int] = {}
        self._tidy_at = 64

    def __len__(self) -> int:
        return len(self._full_ms)

    def admits(self, peer: int, now_ms: int) -> bool:
        """Take a token from the peer's bucket; return whether there was one."""
        full_ms = self._full_ms.get(peer, now_ms)
        if full_ms > now_ms + self._burst_ms + self._every_ms:
            full_ms = now_ms + self._burst_ms + self._every_ms
            self._full_ms[peer] = full_ms  # the clock was set back
        if full_ms > now_ms + self._burst_ms:
            return False
        self._full_ms[peer] = max(full_ms, now_ms) + self._every_ms
        if len(self._full_ms) > self._tidy_at:
            self._full_ms = {other: at_ms for other, at_ms in self._full_ms.items() if at_ms > now_ms}
            self._tidy_at = 64 + 2 * len(self._full_ms)
        return True
