"""Atomic writes: a file appears completely or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dens.config.untrusted_folder import path_in

_SYSTEM = (Path("/dev"), Path("/proc"))
"""Links below are made by the system, such as `/dev/stdout`."""


def write_whole(path: Path, content: bytes, *, within: Path | None = None, private: bool = False) -> None:
    """Write a temporary file beside the target and rename it, so that no reader sees half of it.

    Missing folders are created. A link is replaced and its target left alone. A device or a pipe is written
    to directly. With `within`, an untrusted folder, no link below it is followed and only a regular file is
    left at the name. A private file can be read by its owner only. Errors are `OSError` with the name of the
    target.
    """
    if within is None and _takes_bytes(path):
        with _named(path):
            path.write_bytes(content)
        return
    if within is not None:
        _refuse_links(path, within)
    with _named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, within=within, private=private) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def whole_file(path: Path, *, within: Path | None = None, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a file that gets its name when all is written; after an error nothing is left. Its folder has to
    exist."""
    if within is not None:
        _refuse_links(path, within)
    if path.is_dir() and not path.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with _named(path):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            Path(temporary).chmod(0o600 if private else 0o666 & ~_umask())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _refuse_links(path: Path, within: Path) -> None:
    """Refuse links in the parent folders; the last component is replaced."""
    path_in(within, str(path.parent.relative_to(within) / "_"))


def _takes_bytes(path: Path) -> bool:
    """Return whether the path is a device or pipe, which is written to directly."""
    if path.is_symlink() and not any(path.absolute().is_relative_to(place) for place in _SYSTEM):
        return False
    return path.exists() and not path.is_dir() and (not path.is_file() or path.is_symlink())


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
