"""Standard output of a node and of its ends, and what follows when nobody can take it any more.

A DENS node is there for others, and a publisher for what it measures: both go on when whoever read their
events is gone or the disk of their log is full, and say so. A subscriber is there to show something, and
ends.
"""

import sys
from collections.abc import Callable

from dens.config.streams import forget, printable


class OutputError(Exception):
    """Standard output cannot be written any more."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}")
        self.is_reader_gone = isinstance(error, BrokenPipeError)


def put(line: str) -> None:
    """Print a line at once, or raise `OutputError`; nothing more is written to that output then."""
    try:
        print(line, flush=True)
    except OSError as error:
        forget(sys.stdout)
        raise OutputError(error) from None


def say(line: str) -> None:
    """Tell the person something on stderr, if that is still there: no node ends because it is not."""
    try:
        print(printable(line), file=sys.stderr, flush=True)
    except OSError:
        forget(sys.stderr)


def putting_while_possible() -> Callable[[str], None]:
    """Return what prints lines for as long as it can, and says once that it cannot any more."""
    is_lost = False

    def put_if_possible(line: str) -> None:
        nonlocal is_lost
        if is_lost:
            return
        try:
            put(line)
        except OutputError as error:
            is_lost = True
            say(f"{error}; this goes on, and tells its events no more")

    return put_if_possible
