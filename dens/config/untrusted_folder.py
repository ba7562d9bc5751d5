"""Opens the files of a run's folder, which is untrusted input. All reads go through this module.

The folder itself may be a link, but no link below it is followed, neither in the last component nor before,
for reading or writing. Only regular files are opened, because a pipe would block and a device may have side
effects. A name that leads out of the folder is refused. A file is opened component by component, so that the
file that was checked is the one that is read.
"""

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError
from dens.config.reading import refuse_large

LARGEST_PART: Final = 1 << 30
"""Bytes of one Parquet file; `dens run` writes some hundred kilobytes."""
_HERE: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def path_in(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, for callers that need a path. The file may be missing.

    A name that leads out of the folder, or a link in any component, raises `DocumentError`.
    """
    place = folder
    for part in _components(folder, name):
        place = place / part
        try:
            mode = os.lstat(place).st_mode
        except (FileNotFoundError, NotADirectoryError):
            break
        if stat.S_ISLNK(mode):
            raise DocumentError.of_file(
                str(place),
                "D381",
                "is a link, and no link inside the folder of a run is followed; put the file itself there, "
                "or remove the link",
            )
    return folder.joinpath(name)


def file_in(folder: Path, name: str) -> Path:
    """Return the path of a regular file, as `path_in`; a missing one raises `FileNotFoundError`."""
    path = path_in(folder, name)
    _refuse_irregular(path, os.lstat(path).st_mode)
    return path


def open_in(folder: Path, name: str) -> BufferedReader:
    """Open a regular file of a folder for reading.

    A missing file raises `FileNotFoundError`, an unreadable one another `OSError`. Links, irregular files,
    and names that lead elsewhere raise `DocumentError`.
    """
    path = file_in(folder, name)
    *on_the_way, last = _components(folder, name)
    here = os.open(folder, _HERE)
    try:
        for part in on_the_way:
            deeper = os.open(part, _HERE | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = deeper
        opened = os.open(last, _FILE, dir_fd=here)
    finally:
        os.close(here)
    try:
        _refuse_irregular(path, os.fstat(opened).st_mode)
    except BaseException:
        os.close(opened)
        raise
    return os.fdopen(opened, "rb")


def read_in(folder: Path, name: str, limit: int) -> bytes:
    """Return the content of a file, as `open_in`; more than `limit` bytes are refused."""
    with open_in(folder, name) as file:
        content = file.read(limit + 1)
    refuse_large(content, str(folder / name), limit)
    return content


def parts_in(folder: Path, table: str, trace: str = "trace") -> list[Path]:
    """Return the Parquet files of a table of a run, in the order in which they were written.

    All are regular files of acceptable size. The list is empty if the table is missing.
    """
    place = path_in(folder, f"{trace}/{table}")
    try:
        names = [entry.name for entry in place.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    parts = [name for name in names if name.startswith("part-") and name.endswith(".parquet")]
    found = [file_in(folder, f"{trace}/{table}/{name}") for name in sorted(parts, key=_position)]
    for part in found:
        if part.lstat().st_size > LARGEST_PART:
            raise DocumentError.of_file(
                str(part), "D003", f"is larger than {LARGEST_PART} bytes, the most that a part may have"
            )
    return found


def refuse_links_below(folder: Path, name: str) -> None:
    """Raise `DocumentError` if anything below this folder is neither a folder nor a regular file.

    For folders that are passed to code that follows links.
    """
    place = path_in(folder, name)
    for where, folders, files in os.walk(place):
        for entry in (*folders, *files):
            path = path_in(folder, str((Path(where) / entry).relative_to(folder)))
            if not path.is_dir():
                _refuse_irregular(path, os.lstat(path).st_mode)


def _components(folder: Path, name: str) -> list[str]:
    """Return the components of a name, or refuse one that is invalid or leads elsewhere."""
    components = name.split("/")
    try:
        os.fsencode(name)
        is_name = "\0" not in name
    except UnicodeEncodeError:
        is_name = False
    if not is_name or any(component in ("", ".", "..") for component in components):
        raise DocumentError.of_file(
            str(folder),
            "D382",
            f"{name!a} is not the name of a file in this folder; a run refers only to its own files",
        )
    return components


def _refuse_irregular(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise DocumentError.of_file(str(path), "D002", "cannot be read: it is not a regular file")


def _position(name: str) -> tuple[int, str]:
    """Return the sort key of a part: its number, which may have more than five digits."""
    digits = name.removeprefix("part-").removesuffix(".parquet")
    return (int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else 1 << 63), name
