"""A lock on a run's folder while a process writes it, so that a follower knows whether the run is alive.

The lock (`flock`) is on the folder itself and leaves no file. Unlike a PID file, the system removes it
however the process ends.
"""

import os
import time
import weakref
from pathlib import Path
from typing import Final

_TRIES: Final = 20
_BETWEEN_S: Final = 0.05
"""Followers take the lock too, briefly, so a writer retries."""


class FolderLocked(FileExistsError):
    """Another process writes this folder."""


class FolderLock:
    """Holds the lock of a folder until it is released or garbage-collected.

    A folder that another process writes raises `FolderLocked`. File systems without `flock` are tolerated;
    liveness is then unknown.
    """

    def __init__(self, folder: Path) -> None:
        self.release = weakref.finalize(self, os.close, _locked(folder))
        """Call this when nothing more will be written."""


def _locked(folder: Path) -> int:
    """Return a file descriptor of the folder; closing it releases the lock."""
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
    """Lock an open folder without waiting; raise `OSError` if locks are not supported."""
    try:
        import fcntl
    except ModuleNotFoundError:
        raise OSError("this system has no file locks") from None
    fcntl.flock(opened, (fcntl.LOCK_EX if exclusively else fcntl.LOCK_SH) | fcntl.LOCK_NB)


def is_being_written(folder: Path) -> bool:
    """Return whether a process holds the lock; True if locks are not supported."""
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
