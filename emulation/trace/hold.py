"""A run's folder is locked while somebody writes it, so that a follower can tell whether anybody still does.

The lock is on the folder itself and leaves no file. The system takes it away when the process ends, however
it does, which no number of a process in a file can promise.
"""

import fcntl
import os
import weakref
from contextlib import suppress
from pathlib import Path


class FolderHold:
    """Says, as long as it is there and not released, that this process writes a folder.

    A file system without locks is put up with: then nobody can tell.
    """

    def __init__(self, folder: Path) -> None:
        self.release = weakref.finalize(self, os.close, _locked(folder))
        """Call it when nothing more will be written."""


def _locked(folder: Path) -> int:
    """Return the folder as an open file; closing it ends the lock."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return opened
