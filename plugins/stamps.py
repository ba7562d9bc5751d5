"""The time that a body or a notification carries: two bytes, in seconds modulo 65536.

A subscription's body begins with the time at which it was written. What two subscriptions mean is compared
without it.
"""

from typing import Final

from watchdog.vector import HEADER_BYTES, VectorError

STAMP_BYTES: Final = 2
STAMP_SECONDS: Final = 1 << 8 * STAMP_BYTES
_TOLD_AT: Final = 3
"""Where in a board's notification the time stands at which it happened, whatever the width of features."""


def stamp_bytes(second: int) -> bytes:
    """Return a time as a body carries it."""
    return (second % STAMP_SECONDS).to_bytes(STAMP_BYTES, "big")


def without_stamp(body: bytes) -> bytes:
    """Return what of a body is no time of writing."""
    return body[STAMP_BYTES:]


def board_told_s(notification: bytes) -> int:
    """Return the second, modulo 65536, at which a board's notification says that it happened, or raise
    `VectorError`.
    """
    if len(notification) < HEADER_BYTES:
        raise VectorError(len(notification), "too short for a notification")
    return int.from_bytes(notification[_TOLD_AT : _TOLD_AT + STAMP_BYTES], "big")
