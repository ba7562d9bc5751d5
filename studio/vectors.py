"""Vectors as people hand them over: hexadecimal on the command line or on stdin, or a file of bytes."""

import re
import sys
from pathlib import Path

from studio.failures import Refusal

_HEXADECIMAL = re.compile(r"[0-9a-fA-F\s]+")


def given_vector(text: str) -> bytes:
    """Return the bytes that an argument means: hexadecimal, - for hexadecimal on stdin, or a file."""
    if text == "-":
        return _from_hex(sys.stdin.read())
    if _HEXADECIMAL.fullmatch(text) and not Path(text).exists():
        return _from_hex(text)
    path = Path(text)
    if not path.is_file():
        raise Refusal(f"{text!r} is neither hexadecimal nor a file; give pairs of 0-9 and a-f, or a path")
    from knowledge_manager.documents import read_document

    content = read_document(path)
    if path.suffix == ".hex":
        return _from_hex(content.decode("ascii", "replace"))
    return content


def _from_hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise Refusal(f"{text.strip()!r} is not hexadecimal ({error}); give pairs of 0-9 and a-f") from error
