"""Helpers for Spark streams: exclusive folders, and paths without patterns."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spark_analysis.errors import TraceError

_PATTERN = frozenset("*?[]{}\\")


def refuse_patterns(folder: Path, what: str) -> None:
    """Reject a path that Spark streams would treat as a pattern: they would read parts several times."""
    if _PATTERN & set(str(folder)):
        raise TraceError(
            f"{folder}: {what} whose path has one of * ? [ ] {{ }} \\ cannot be followed; "
            "follow it through a link with another name"
        )


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
