"""How often each peer may ask for what costs much more than asking: a token bucket for each of them.

A new session makes a node compare everything it holds with a summary and queue what is lacking, whatever the
summary says. An honest peer begins one when a contact opens and when it restarted; one that begins them all
the time is heard as often as that, and otherwise refused. A look-up has a longer answer than itself, and
makes others ask.

It is the generic cell rate algorithm (ITU-T I.371): for each peer one number, the time at which its bucket is
full again.
"""


class RateLimit:
    """The buckets of all peers. One that is full again is forgotten."""

    __slots__ = ("_burst_ms", "_every_ms", "_full_ms", "_tidy_at")

    def __init__(self, every_ms: int, burst: int) -> None:
        """A token comes so often, and a full bucket has so many."""
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
            self._full_ms = {one: at_ms for one, at_ms in self._full_ms.items() if at_ms > now_ms}
            self._tidy_at = 64 + 2 * len(self._full_ms)
        return True
