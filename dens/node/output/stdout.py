"""Standard output of a node and its endpoints, and what happens when it can no longer be written.

A DENS node serves other nodes and a publisher its subscribers, so both continue when the reader of their
output is gone or the disk is full, and report it once. A subscriber exists to show something, so it ends.
"""

import sys
from collections.abc import Callable

from dens.config.streams import forget, printable


class OutputError(Exception):
    """Standard output can no longer be written."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}")
        self.is_reader_gone = isinstance(error, BrokenPipeError)


def put(line: str) -> None:
    """Print a line and flush, or raise `OutputError` and close that output."""
    try:
        print(line, flush=True)
    except OSError as error:
        forget(sys.stdout)
        raise OutputError(error) from None


def say(line: str) -> None:
    """Print a line on stderr. A closed stderr is ignored: it must not end a node."""
    try:
        print(printable(line), file=sys.stderr, flush=True)
    except OSError:
        forget(sys.stderr)


def safe_writer() -> Callable[[str], None]:
    """Return a function that prints lines while stdout works, and reports once when it no longer does."""
    is_lost = False

    def put_if_possible(line: str) -> None:
        nonlocal is_lost
        if is_lost:
            return
        try:
            put(line)
        except OutputError as error:
            is_lost = True
            say(f"{error}; this continues without printing events")

    return put_if_possible
