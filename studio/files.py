"""Files as commands see them: folders are opened up, results appear whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def gather(paths: Iterable[Path], suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files named, and in place of a folder the files in and below it that have such a suffix."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(p for p in path.rglob("*") if p.suffix in suffixes and p.is_file()))
        else:
            found.append(path)
    return found


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that its final name never shows half of it: a temporary sibling, then a rename."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_and_rename(path, content)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _write_and_rename(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
