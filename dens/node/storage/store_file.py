"""Checks of the file of a store, before and after SQLite opens it.

Only a file that was a store is ever set aside: a wrong file named by mistake stays as it is.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from dens.overlay.errors import StoreError

APPLICATION: Final = 0x44454E53
"""'DENS' in the header of the file, so that `file` and we recognise it."""
_APPLICATION_AT: Final = 68
_HEADER_BYTES: Final = 100
_FIRST_PAGE_BYTES: Final = 4_096
_OUR_TABLE: Final = b"CREATE TABLE row (\n    space INTEGER NOT NULL"
_LOG_MAGIC: Final = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_ENDINGS: Final = ("", "-wal", "-shm")
_KEPT: Final = ("", "-wal")
"""The files with committed data; the third is temporary."""


def check_place(path: Path) -> None:
    """Refuse a folder, a device or a pipe."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file in it: {path / 'node.sqlite'}")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is not a regular file; a store is a file on a disk")


Files = dict[str, tuple[int, int] | None]
"""Device and inode of each file of a store."""


def files_at(path: Path) -> Files:
    """Return the files of a store: the database, and its log, which the first write creates."""
    return {ending: _file_at(path.with_name(path.name + ending)) for ending in _KEPT}


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def make_private(path: Path) -> None:
    """Make an empty file that only its owner can read, if it does not exist. SQLite gives its log the same
    mode. Errors are left to SQLite, which reports the reason.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def why_not_written(error: sqlite3.Error) -> str:
    """Return why a commit failed, and what to check."""
    reason = str(error)
    if "readonly" in reason or "read-only" in reason:
        return "it can no longer be written; is its disk mounted read-only?"
    if "unable to open" in reason:
        return f"{reason}; does its folder exist, and is a file descriptor free?"
    return f"{reason}; is the disk full?"


def is_in_use(error: sqlite3.Error) -> bool:
    """Return whether SQLite could not open a file because another process uses it."""
    reason = str(error)
    return "locked" in reason or "busy" in reason


def why_not_opened(path: Path, error: sqlite3.Error) -> str:
    """Return why SQLite could not open a file, and what to do."""
    folder = path.parent
    if not folder.is_dir():
        return f"the folder {folder} does not exist; make it, or correct the path"
    reason = str(error)
    if is_in_use(error):
        return "another node is using it; end that one first, or give each a store of its own"
    if "readonly" in reason or "unable to open" in reason:
        return f"{reason}; check the permissions of the file and of the folder {folder}"
    return f"{reason}; check the disk"


def was_store(path: Path) -> bool:
    """Return whether a file that SQLite cannot read was the store of a DENS node.

    Evidence is the application id in its header, or our table in its first page. If the first page is lost
    (zeros, as after a torn write), the zeros or the log beside it count.
    """
    with path.open("rb") as file:
        page = file.read(_FIRST_PAGE_BYTES)
    if page[_APPLICATION_AT : _APPLICATION_AT + 4] == APPLICATION.to_bytes(4, "big") or _OUR_TABLE in page:
        return True
    if page and not any(page[:_HEADER_BYTES]):
        return True
    log = path.with_name(path.name + "-wal")
    if not log.is_file():
        return False
    with log.open("rb") as file:
        return file.read(4) in _LOG_MAGIC


def set_aside(path: Path) -> Path:
    """Rename a damaged file and its log to a free name; return the new name."""
    aside = path.with_name(path.name + ".damaged")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{number}")
    for ending in _ENDINGS:
        old = path.with_name(path.name + ending)
        if old.exists():
            old.rename(aside.with_name(aside.name + ending))
    return aside
