"""What every stream of Spark needs beside Spark: a folder to itself, and a path that is no pattern."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spark_analysis.errors import TraceError

_PATTERN = frozenset("*?[]{}\\")


def refuse_patterns(folder: Path, what: str) -> None:
    """Refuse a path that Spark's streams take for a pattern: they would read each part several times."""
    if _PATTERN & set(str(folder)):
        raise TraceError(
            f"{folder}: {what} whose path has one of * ? [ ] {{ }} \\ cannot be followed; "
            "follow it through a link with another name"
        )


@contextmanager
def held_alone(place: Path, otherwise: str) -> Iterator[None]:
    """Hold a folder for this process; the system lets go of it when the process dies, however it does. Where
    somebody else has it, `otherwise` says so.
    """
    import fcntl  # not on every system that reads traces

    with (place / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TraceError(otherwise) from None
        yield
