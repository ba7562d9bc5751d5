"""Helpers for Spark streams: exclusive folders, and paths without patterns."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spark_analysis.errors import TraceError

_PATTERN = frozenset("*?[]{}\\")
_TRACEBACK = "Traceback (most recent call last):"
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w+$")


def refuse_patterns(folder: Path, what: str) -> None:
    """Reject a path that Spark streams would treat as a pattern: they would read parts several times."""
    if _PATTERN & set(str(folder)):
        raise TraceError(
            f"{folder}: {what} whose path has one of * ? [ ] {{ }} \\ cannot be followed; "
            "follow it through a link with another name"
        )


def cause_of(error: Exception) -> str:
    """Return the cause of a failed stream in one line.

    Spark quotes the traceback of a Python callback, whose first line names no cause: the exception follows
    the last traceback. A Java exception within it is on a line of its own, after a colon.
    """
    _, marker, text = str(error).strip().rpartition(_TRACEBACK)
    lines = [line for line in text.splitlines() if line.strip()]
    if marker:
        lines = [line for line in lines if not line[0].isspace()]
    java = [line[2:] for line in lines if marker and line.startswith(": ")]
    return _SQLSTATE.sub("", [*java, *lines, type(error).__name__][0])


@contextmanager
def exclusive_folder(place: Path, otherwise: str) -> Iterator[None]:
    """Lock a folder for this process; the lock is released when the process ends. `otherwise` is the error
    message if it is locked.
    """
    import fcntl  # not on every system that reads traces

    with (place / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TraceError(otherwise) from None
        yield
