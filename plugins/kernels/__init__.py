"""Kernels that several languages share: vectorised, or compiled with Numba.

Numba keeps compiled code beside the source or in the user's cache. Where it may write to neither, as for an
account without a home that uses another user's installation, it refuses to compile at all; then it gets a
folder of its own for as long as the process lives. It is a fresh one, readable by no other user: compiled
code is loaded from it, so it must never be one that others can prepare.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _user_cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    return Path(named) if named else Path(os.path.expanduser("~")) / ".cache"  # noqa: PTH111 (never raises)


def _find_a_cache() -> None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    if _is_writable(Path(__file__).parent / "__pycache__") or _is_writable(_user_cache() / "numba"):
        return
    folder = tempfile.mkdtemp(prefix="dens-numba-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder


_find_a_cache()
