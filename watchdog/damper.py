"""Suppresses notifications without new information, so that noise at a threshold does not flood the radio.

Both rules are off by default, because with either of them a source no longer sends everything that matches.
They look at what was last sent for the same event class and feature:

    interval     a notification less than `interval_ms` after it is held back
    hysteresis   one whose every value differs from it by less than `hysteresis` steps of 255 is held back
"""

PASSED = 0
INTERVAL = 1
HYSTERESIS = 2


class Damper:
    """Remembers the last notification sent for each feature; one object for each filter."""

    def __init__(self, feature_bytes: int, interval_ms: int, hysteresis: int) -> None:
        self.feature_bytes = feature_bytes
        self.interval_ms = interval_ms
        self.hysteresis = hysteresis
        self._sent = {}  # type: dict[bytes, tuple[int, bytes]]

    def judge(self, vector: bytes, now_ms: int) -> int:
        """Return PASSED, and take the notification as sent, or the rule that holds it back.

        A clock that jumps back does not hold anything back: what was sent in the future is forgotten.
        """
        features = bytes(vector[len(vector) - 2 * self.feature_bytes :])
        last = self._sent.get(features)
        if last is not None and last[0] <= now_ms:
            if now_ms - last[0] < self.interval_ms:
                return INTERVAL
            if self.hysteresis and not self._has_moved(vector, last[1]):
                return HYSTERESIS
        self._sent[features] = (now_ms, vector)
        return PASSED

    def _has_moved(self, vector: bytes, last: bytes) -> bool:
        """Return whether any value is `hysteresis` or more away from the last one sent."""
        for i in range(6, len(vector) - 2 * self.feature_bytes):
            if abs(vector[i] - last[i]) >= self.hysteresis:
                return True
        return False
