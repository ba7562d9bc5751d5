"""Text for terminals: what may be shown of a file, and streams that nobody reads any more."""

import os
from typing import TextIO

LONGEST = 2000
"""Characters of one message; whoever quotes a whole file is cut short."""


def forget(stream: TextIO) -> None:
    """Let what is still buffered for a stream go nowhere, so that the interpreter's own flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def printable(text: str) -> str:
    """Return text that may quote a file without steering the terminal, and without filling it."""
    shown = "".join(
        char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in text[: LONGEST + 1]
    )
    return shown if len(text) <= LONGEST else f"{shown[:LONGEST]}… ({len(text):,} characters)"
