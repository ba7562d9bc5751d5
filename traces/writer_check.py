"""Whether anybody still writes a run: who does holds a lock on its folder (docs/trace-format.md)."""

import fcntl
import os
from pathlib import Path


def is_being_written(folder: Path) -> bool:
    """Tell whether some process holds the folder; where locks cannot be asked for it is taken for granted."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return True
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(opened)
    return False
