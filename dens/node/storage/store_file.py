"""What is found where a store shall be, before and after SQLite has looked at it.

Only a file that was a store once is ever set aside: whoever names a wrong file keeps it as it is.
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
"""Where what was committed is; the third is scratch."""


def check_place(path: Path) -> None:
    """Refuse what is there and can be no store: a folder, a device, a pipe."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file in it: {path / 'node.sqlite'}")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is not a regular file; a store is a file on a disk")


Files = dict[str, tuple[int, int] | None]
"""Which file is there under each name of a store, by device and inode."""


def files_at(path: Path) -> Files:
    """Return which files a store consists of: itself, and its log, which comes with the first write."""
    return {ending: _file_at(path.with_name(path.name + ending)) for ending in _KEPT}


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def make_private(path: Path) -> None:
    """Make an empty file that only its owner can read, where none is; SQLite gives its log the same mode.
    Where that cannot be, SQLite finds out why.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def why_not_written(error: sqlite3.Error) -> str:
    """Return what a person should look at when a commit failed."""
    said = str(error)
    if "readonly" in said or "read-only" in said:
        return "it cannot be written any more; is its disk mounted read-only?"
    if "unable to open" in said:
        return f"{said}; are its folder and a free file descriptor there?"
    return f"{said}; is the disk full?"


def is_in_use(error: sqlite3.Error) -> bool:
    """Return whether SQLite could not open a file because another process has it."""
    said = str(error)
    return "locked" in said or "busy" in said


def why_not_opened(path: Path, error: sqlite3.Error) -> str:
    """Return why SQLite could not open a file, and what to do."""
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder}; make it, or correct the path"
    said = str(error)
    if is_in_use(error):
        return "another node is using it; end that one first, or give each a store of its own"
    if "readonly" in said or "unable to open" in said:
        return f"{said}; check the permissions of the file and of the folder {folder}"
    return f"{said}; check the disk"


def was_store(path: Path) -> bool:
    """Return whether a file that SQLite cannot read was a DENS node's store once.

    Its header says so, or its first page names our table; where the first page is gone (zeros, as a torn
    write leaves them) the log beside it, or that nothing else stands there, does.
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
    """Give a damaged file, with its log, a name that is free; return that."""
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
