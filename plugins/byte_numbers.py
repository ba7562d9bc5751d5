"""Numbers in as few bytes as they need: base 128, most significant first, the high bit says that more
follows; every number has one spelling, its shortest. Four bytes are the most unless somebody says otherwise.
"""

from typing import Final

from watchdog.vector import VectorError

MORE: Final = 128
MOST_BYTES: Final = 4
LONG_BYTES: Final = 9
"""For values, which may be large; they stay below 2⁶³."""

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
    """Return the bytes of a number of either sign: 0, −1, 1, −2 … count 0, 1, 2, 3 …"""
    return number(2 * value if value >= 0 else -2 * value - 1)


class ByteReader:
    """Takes bytes from the front; what is not there, or not in its one spelling, raises `VectorError`.

    `before` bytes stand before these in the vector, whose offsets errors tell.
    """

    def __init__(self, data: bytes, before: int = 0) -> None:
        self.data = data
        self.at = 0
        self._before = before

    def refused(self, message: str, at: int | None = None) -> VectorError:
        """Return the error that refuses what stands at an offset, that of the next byte if none is given."""
        return VectorError(self._before + (self.at if at is None else at), message)

    def byte(self, what: str) -> int:
        """Take one byte."""
        if self.at >= len(self.data):
            raise self.refused(f"the vector ends where {what} is expected")
        self.at += 1
        return self.data[self.at - 1]

    def number(self, what: str, most: int = MOST_BYTES) -> int:
        """Take a number of at most so many bytes."""
        begin, value = self.at, 0
        while True:
            byte = self.byte(what)
            if self.at == begin + 1 and byte == MORE:
                raise self.refused("a number begins with nothing; write it shorter", begin)
            value = value << 7 | byte & 127
            if byte < MORE:
                return value
            if self.at == begin + most:
                raise self.refused(f"a number has more than {_COUNTED[most]} bytes", begin)

    def signed(self, what: str, most: int = MOST_BYTES) -> int:
        """Take a number of either sign."""
        value = self.number(what, most)
        return value >> 1 if value & 1 == 0 else -(value >> 1) - 1

    def take(self, length: int, what: str) -> bytes:
        """Take so many bytes; nothing is allocated before they are known to be there."""
        if length > len(self.data) - self.at:
            raise self.refused(f"the vector ends where {length} bytes of {what} are expected")
        self.at += length
        return self.data[self.at - length : self.at]

    def text(self, what: str) -> str:
        """Take a text behind its length."""
        begin = self.at
        try:
            return self.take(self.number(f"the length of {what}"), what).decode()
        except UnicodeDecodeError:
            raise self.refused(f"{what} is no UTF-8", begin) from None

    def refuse_rest(self) -> None:
        """Refuse what still stands behind the last part."""
        if self.at != len(self.data):
            raise self.refused("bytes follow behind the end")
