"""Timestamps of bodies and notifications: two bytes, in seconds modulo 65536.

The body of a subscription begins with its creation time. Comparisons of the meaning ignore it.
"""

from typing import Final

from watchdog.vector import HEADER_BYTES, VectorError

STAMP_BYTES: Final = 2
STAMP_SECONDS: Final = 1 << 8 * STAMP_BYTES
_TOLD_AT: Final = 3
"""Offset of the event time in a board's notification, for every width of features."""


def stamp_bytes(second: int) -> bytes:
    return (second % STAMP_SECONDS).to_bytes(STAMP_BYTES, "big")


def without_stamp(body: bytes) -> bytes:
    """Return a body without its creation time."""
    return body[STAMP_BYTES:]


def board_event_s(notification: bytes) -> int:
    """Return the event time of a board's notification in seconds modulo 65536, or raise `VectorError`."""
    if len(notification) < HEADER_BYTES:
        raise VectorError(len(notification), "too short for a notification")
    return int.from_bytes(notification[_TOLD_AT : _TOLD_AT + STAMP_BYTES], "big")
