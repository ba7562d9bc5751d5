"""Results appear whole or not at all: what every room that writes a file for people uses."""

import errno
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes, *, is_private: bool = False) -> None:
    """Write a file so that its final name never shows half of it: a temporary sibling, then a rename.

    Folders on the way are made. A link is followed; what is no file but can be written to, a device or a
    pipe, gets the bytes and stays what it is. A private file is readable by its owner alone, from its first
    byte on. What goes wrong is an `OSError` that names the file that was wanted.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        real = path.resolve()
        if real.exists() and not real.is_file():
            real.write_bytes(content)
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        _write_and_rename(real, content, is_private)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _write_and_rename(path: Path, content: bytes, is_private: bool) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod((0o600 if is_private else 0o666) & ~mask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
