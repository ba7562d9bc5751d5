"""A run's folder is locked while somebody writes it, so that a follower can tell whether anybody still does.

The lock is on the folder itself and leaves no file. The system takes it away when the process ends, however
it does, which no number of a process in a file can promise.
"""

import os
import time
import weakref
from pathlib import Path
from typing import Final

_TRIES: Final = 20
_BETWEEN_S: Final = 0.05
"""Followers ask for the lock too, for a moment; they are not taken for writers."""


class FolderLocked(FileExistsError):
    """Somebody else writes this folder."""


class FolderLock:
    """Says, as long as it is there and not released, that this process writes a folder.

    A folder that somebody else writes raises `FolderLocked`: what two write is neither's. A file system
    without locks is put up with: then nobody can tell.
    """

    def __init__(self, folder: Path) -> None:
        self.release = weakref.finalize(self, os.close, _locked(folder))
        """Call it when nothing more will be written."""


def _locked(folder: Path) -> int:
    """Return the folder as an open file; closing it ends the lock."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(_TRIES):
        try:
            _lock(opened, exclusively=True)
        except BlockingIOError:
            time.sleep(_BETWEEN_S)
        except OSError:
            return opened
        else:
            return opened
    os.close(opened)
    raise FolderLocked(f"{folder} is being written by another process; end that one, or name another folder")


def _lock(opened: int, *, exclusively: bool) -> None:
    """Lock an open folder without waiting; where there are no such locks, raise OSError."""
    try:
        import fcntl
    except ModuleNotFoundError:
        raise OSError("this system has no file locks") from None
    fcntl.flock(opened, (fcntl.LOCK_EX if exclusively else fcntl.LOCK_SH) | fcntl.LOCK_NB)


def is_being_written(folder: Path) -> bool:
    """Tell whether some process holds the folder; where locks cannot be asked for it is taken for granted."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return True
    try:
        _lock(opened, exclusively=False)
    except OSError:
        return True
    finally:
        os.close(opened)
    return False
