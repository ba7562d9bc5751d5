"""Vectors as people hand them over: hexadecimal on the command line or on stdin, or a file of bytes."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from dens.config.refusal import Refusal

_HEXADECIMAL = re.compile(r"[0-9a-fA-F\s]+")

LONGEST_HEX = 2 * 64 * 1024
"""Characters. No vector comes near it; what does is refused unread."""


def given_vector(text: str) -> bytes:
    """Return the bytes that an argument means: hexadecimal, - for that on stdin, or a file of either."""
    if text == "-":
        return from_hex(sys.stdin.read(LONGEST_HEX + 1))
    path = Path(text)
    if not _is_there(path):
        if _HEXADECIMAL.fullmatch(text):
            return from_hex(text)
        shown = text if len(text) <= 60 else text[:60] + "…"
        raise Refusal(f"{shown!r} is neither hexadecimal nor a file; give pairs of 0-9 and a-f, or a path")
    from dens.config.reading import read_document

    content = read_document(path)
    as_text = content.decode("ascii", "replace")
    return from_hex(as_text) if _HEXADECIMAL.fullmatch(as_text) else content


def from_hex(text: str) -> bytes:
    """Return the bytes that hexadecimal digits stand for; anything else is refused with what is wrong."""
    digits = "".join(text.split())
    if len(digits) > LONGEST_HEX:
        raise Refusal(f"this is longer than {LONGEST_HEX} digits, the most that is read")
    if not _HEXADECIMAL.fullmatch(digits):
        raise Refusal(f"{text.strip()[:60]!r} is not hexadecimal; give pairs of 0-9 and a-f")
    if len(digits) % 2:
        raise Refusal(f"{len(digits)} is an odd number of digits; a byte has two")
    return bytes.fromhex(digits)


@contextmanager
def vector_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open a file of vectors in hexadecimal, one a line; of a line that never ends the beginning is kept."""
    if path.exists() and not (path.is_file() or path.is_fifo()):
        raise Refusal(f"{path} is no file; give a file with one vector in hexadecimal a line")
    with path.open(encoding="ascii", errors="replace") as file:
        yield _bounded_lines(file)


def _bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield each line once, however long it is: what is beyond the bound is read over and spoils it."""
    for piece in iter(partial(file.readline, LONGEST_HEX + 1), ""):
        rest = piece
        while rest and not rest.endswith("\n") and len(rest) > LONGEST_HEX:
            rest = file.readline(LONGEST_HEX + 1)
        yield piece


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # longer than any file name
