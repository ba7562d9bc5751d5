"""Reads vectors: hexadecimal on the command line or on stdin, or files of bytes."""

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
"""Digits of the longest vector that is read."""


def given_vector(text: str) -> bytes:
    """Return the bytes that an argument names: hexadecimal, a file of it or of bytes, or - (stdin)."""
    if text == "-":
        return from_hex(sys.stdin.read(LONGEST_HEX + 1))
    path = Path(text)
    if not _is_there(path):
        if _HEXADECIMAL.fullmatch(text):
            return from_hex(text)
        shown = text if len(text) <= 60 else text[:60] + "…"
        raise Refusal(f"{shown!r} is neither hexadecimal nor a file; use pairs of 0-9 and a-f, or a path")
    from dens.config.reading import read_document

    content = read_document(path)
    as_text = content.decode("ascii", "replace")
    return from_hex(as_text) if _HEXADECIMAL.fullmatch(as_text) else content


def from_hex(text: str) -> bytes:
    """Parse hexadecimal digits; whitespace is ignored."""
    digits = "".join(text.split())
    if len(digits) > LONGEST_HEX:
        raise Refusal(f"longer than {LONGEST_HEX} hexadecimal digits, the maximum")
    if not _HEXADECIMAL.fullmatch(digits):
        raise Refusal(f"{text.strip()[:60]!r} is not hexadecimal; use pairs of 0-9 and a-f")
    if len(digits) % 2:
        raise Refusal(f"odd number of hexadecimal digits ({len(digits)}); a byte has two")
    return bytes.fromhex(digits)


@contextmanager
def vector_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open a file of vectors in hexadecimal, one per line. Overlong lines are cut, and so invalid."""
    if path.exists() and not (path.is_file() or path.is_fifo()):
        raise Refusal(f"{path} is not a file; give a file of vectors in hexadecimal, one per line")
    with path.open(encoding="ascii", errors="replace") as file:
        yield _bounded_lines(file)


def _bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield the first `LONGEST_HEX` + 1 characters of each line."""
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
