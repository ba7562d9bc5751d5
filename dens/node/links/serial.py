"""Datagrams over a serial line: SLIP frames with a CRC, as on boards (docs/how-to/boards.md).

    frame     END | escaped (datagram | CRC) | END
    escaped   END is ESCAPE 220, ESCAPE is ESCAPE 221, and 3 is ESCAPE 222, because a board's console takes
              a 3 for Ctrl-C
    CRC       CRC-16/CCITT-FALSE of the datagram, the high byte first

Nothing here reads or writes, so any stream can carry the bytes. Bytes between frames (text that a board
printed, noise) are kept unchanged.
"""

from binascii import crc_hqx
from collections import deque
from typing import Final

END: Final = 192
ESCAPE: Final = 219
_ESCAPED: Final = {END: b"\xdb\xdc", ESCAPE: b"\xdb\xdd", 3: b"\xdb\xde"}
_UNESCAPED: Final = {220: END, 221: ESCAPE, 222: 3}
PROMPT: Final = b">>> "
"""The console prompt of a board that runs no program."""
RESTART: Final = b"\x02\x04"
"""Ctrl-B and Ctrl-D: leave any console mode and restart."""
LONGEST: Final = 70_000
"""Limit of bytes kept between two ENDs; every datagram is shorter."""


def frame(datagram: bytes) -> bytes:
    body = datagram + crc_hqx(datagram, 0xFFFF).to_bytes(2, "big")
    return bytes((END,)) + b"".join([_ESCAPED.get(byte) or bytes((byte,)) for byte in body]) + bytes((END,))


class Deframer:
    """Extracts the frames from a byte stream."""

    __slots__ = ("_body", "_is_escaped", "_raw", "broken", "noise")

    def __init__(self) -> None:
        self._body = bytearray()
        self._raw = bytearray()
        self._is_escaped = False
        self.broken = 0
        """Number of byte sequences between two ENDs that were not a valid frame."""
        self.noise: deque[bytes] = deque(maxlen=64)
        """The latest of them, the newest last."""

    def feed(self, data: bytes) -> list[bytes]:
        """Process bytes; return the datagrams that are now complete."""
        datagrams: list[bytes] = []
        for byte in data:
            if byte == END:
                if (datagram := self._end_frame()) is not None:
                    datagrams.append(datagram)
                continue
            if len(self._raw) < LONGEST:
                self._raw.append(byte)
            if byte == ESCAPE:
                self._is_escaped = True
                continue
            if self._is_escaped:
                self._is_escaped = False
                byte = _UNESCAPED.get(byte, 256)
            if byte < 256 and len(self._body) < LONGEST:
                self._body.append(byte)
            else:
                self._body = bytearray(b"\x00" * LONGEST)  # no longer a valid frame
        return datagrams

    def _end_frame(self) -> bytes | None:
        body, raw = bytes(self._body), bytes(self._raw)
        self._body.clear()
        self._raw.clear()
        was_escaped, self._is_escaped = self._is_escaped, False
        if not raw:
            return None
        if len(body) > 2 and not was_escaped and crc_hqx(body, 0xFFFF) == 0 and len(body) < LONGEST:
            return body[:-2]
        self.broken += 1
        self.noise.append(raw)
        return None


class SerialLink:
    """The host's side of a serial line to a board, without its input and output.

    A board buffers few bytes while it is busy, so frames are written in bursts of at most `burst_bytes` with
    `pause_ms` in between; 0 means without pause.
    """

    __slots__ = ("_burst_bytes", "_free_ms", "_pause_ms", "_waiting", "deframer")

    def __init__(self, burst_bytes: int = 48, pause_ms: int = 20) -> None:
        if burst_bytes < 1:
            raise ValueError(f"a burst has at least one byte, not {burst_bytes}")
        self._burst_bytes = burst_bytes
        self._pause_ms = pause_ms
        self._free_ms: int | None = None
        self._waiting = bytearray()
        self.deframer: Final = Deframer()

    def send(self, datagram: bytes) -> None:
        """Queue a datagram."""
        self._waiting += frame(datagram)

    def bytes_to_write(self, now_ms: int) -> bytes:
        """Return the next burst; empty if nothing is queued or the pause is not over."""
        if not self._waiting or (
            self._free_ms is not None and now_ms < self._free_ms <= now_ms + self._pause_ms
        ):
            return b""
        burst = bytes(self._waiting[: self._burst_bytes])
        del self._waiting[: self._burst_bytes]
        self._free_ms = now_ms + self._pause_ms
        return burst

    @property
    def is_waiting(self) -> bool:
        """Return whether bytes are queued."""
        return bool(self._waiting)

    def receive(self, data: bytes) -> list[bytes]:
        """Process bytes that were read; return the datagrams that are now complete."""
        return self.deframer.feed(data)
