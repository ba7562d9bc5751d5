"""Text for terminals: what may be shown of a file, and streams that nobody reads any more."""

import io
import os
from typing import Final, TextIO

LONGEST = 2000
"""Characters of one message; whoever quotes a whole file is cut short."""


STEERING: Final = (
    *map(chr, range(0x80, 0xA0)),
    "\u061c",
    "\u200e",
    "\u200f",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
)
"""Characters beyond ASCII that steer a terminal: C1 controls, and those that change the direction of text."""

_ESCAPED: Final = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in STEERING})


class TerminalStream(io.TextIOWrapper):
    """Writes to a terminal; what would steer it beyond ASCII is shown as its escape.

    ASCII controls pass, because colours and progress are made of them; whoever quotes a file escapes those.
    """

    def write(self, text: str) -> int:
        """Write a text, and return how many characters were given."""
        super().write(text.translate(_ESCAPED))
        return len(text)


def guarded(stream: TextIO) -> TextIO:
    """Return a stream, guarded where it is a terminal; the one that was given must not be used then."""
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    encoding, errors = stream.encoding, stream.errors
    return TerminalStream(stream.detach(), encoding, errors, line_buffering=True)


def forget(stream: TextIO) -> None:
    """Let what is still buffered for a stream go nowhere, so that the interpreter's own flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def printable(text: str) -> str:
    """Return text that may quote a file without steering the terminal, and without filling it."""
    shown = "".join(
        char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in text[: LONGEST + 1]
    )
    return shown if len(text) <= LONGEST else f"{shown[:LONGEST]}… ({len(text):,} characters)"
