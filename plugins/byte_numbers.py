"""Variable-length numbers: base 128, most significant byte first; the high bit marks that more bytes follow.
Only the shortest encoding is valid. The default maximum is four bytes.
"""

from typing import Final

from watchdog.vector import VectorError

MORE: Final = 128
MOST_BYTES: Final = 4
LONG_BYTES: Final = 9
"""Maximum length of values, which stay below 2⁶³."""

_COUNTED: Final = {MOST_BYTES: "four", LONG_BYTES: "nine"}


def number(value: int) -> bytes:
    """Return the bytes of a number from 0; four take those below 2²⁸.

    >>> number(3000).hex()
    '9738'
    """
    found = [value & 127]
    while value := value >> 7:
        found.append(MORE | value & 127)
    return bytes(reversed(found))


def signed(value: int) -> bytes:
    """Return the bytes of a signed number, zigzag encoded: 0, −1, 1, −2 … become 0, 1, 2, 3 …"""
    return number(2 * value if value >= 0 else -2 * value - 1)


class ByteReader:
    """Reads bytes from the front. Missing bytes and non-canonical encodings raise `VectorError`.

    `before` is the number of bytes that precede these in the vector; errors report offsets in the vector.
    """

    __slots__ = ("_before", "at", "data")

    def __init__(self, data: bytes, before: int = 0) -> None:
        self.data = data
        self.at = 0
        self._before = before

    def refused(self, message: str, at: int | None = None) -> VectorError:
        """Return the error for an offset, by default that of the next byte."""
        return VectorError(self._before + (self.at if at is None else at), message)

    def byte(self, what: str) -> int:
        at = self.at
        if at >= len(self.data):
            raise self.refused(f"the vector ends where {what} is expected")
        self.at = at + 1
        return self.data[at]

    def number(self, what: str, most: int = MOST_BYTES) -> int:
        """Read a number of at most `most` bytes."""
        begin = self.at
        byte = self.byte(what)
        if byte == MORE:
            raise self.refused("a number has leading zero bytes; write it shorter", begin)
        value = byte & 127
        while byte >= MORE:
            if self.at == begin + most:
                raise self.refused(f"a number has more than {_COUNTED[most]} bytes", begin)
            byte = self.byte(what)
            value = value << 7 | byte & 127
        return value

    def signed(self, what: str, most: int = MOST_BYTES) -> int:
        """Read a signed number."""
        value = self.number(what, most)
        return value >> 1 if value & 1 == 0 else -(value >> 1) - 1

    def take(self, length: int, what: str) -> bytes:
        """Read `length` bytes. Nothing is allocated before they are known to exist."""
        if length > len(self.data) - self.at:
            raise self.refused(f"the vector ends where {length} bytes of {what} are expected")
        self.at += length
        return self.data[self.at - length : self.at]

    def text(self, what: str) -> str:
        """Read a text with a length prefix."""
        begin = self.at
        try:
            return self.take(self.number(f"the length of {what}"), what).decode()
        except UnicodeDecodeError:
            raise self.refused(f"{what} is not UTF-8", begin) from None

    def refuse_rest(self) -> None:
        """Refuse trailing bytes."""
        if self.at != len(self.data):
            raise self.refused(f"{len(self.data) - self.at} trailing bytes")
