"""Ties an emulator's life to ours.

Who is killed cleans up nothing (SIGKILL), or not in time (SIGTERM), and an emulated board would run on for
ever, with nobody at its serial line. On Linux the kernel ends a child whose parent is gone, if the child has
asked for it between fork and exec. Elsewhere there is no such promise, and `started` ends the emulator when
it can.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Final

_SET_PARENT_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def ends_with_us() -> Callable[[], None] | None:
    """Return what a child does before it becomes the emulator (`preexec_fn`), or None where that is not
    possible.

    The tie is to the thread that starts the child, so that thread has to live for as long as the child.
    """
    if sys.platform != "linux":
        return None
    libc, parent = ctypes.CDLL(None), os.getpid()

    def tie() -> None:
        libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # It was gone before the kernel was told.
            os._exit(1)

    return tie
