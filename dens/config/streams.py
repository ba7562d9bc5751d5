"""Safe output on terminals: escapes control characters, and handles streams whose reader is gone."""

import io
import os
from typing import Final, TextIO

LONGEST = 2000
"""Characters of one message; longer quotes of a file are cut."""


STEERING: Final = (
    *map(chr, range(0x80, 0xA0)),
    "\u061c",
    "\u200e",
    "\u200f",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
)
"""Non-ASCII characters that control a terminal: C1 controls and those that change the text direction."""

_ESCAPED: Final = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in STEERING})


class TerminalStream(io.TextIOWrapper):
    """Escapes non-ASCII control characters.

    ASCII controls pass, because colours and progress bars use them; `printable` escapes those in quotes.
    """

    def write(self, text: str) -> int:
        """Return the length of the given text, not of the escaped one."""
        super().write(text.translate(_ESCAPED))
        return len(text)


def guarded(stream: TextIO) -> TextIO:
    """Return a stream that escapes control characters if it is a terminal. Do not use the given one then."""
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    encoding, errors = stream.encoding, stream.errors
    return TerminalStream(stream.detach(), encoding, errors, line_buffering=True)


def forget(stream: TextIO) -> None:
    """Redirect a stream to /dev/null, so that the interpreter's final flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def printable(text: str) -> str:
    """Return text with control characters escaped and its length limited, to quote files safely."""
    shown = "".join(
        char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in text[: LONGEST + 1]
    )
    return shown if len(text) <= LONGEST else f"{shown[:LONGEST]}… ({len(text):,} characters)"
