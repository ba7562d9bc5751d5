"""Packs our own packages for the machines of a cluster, which need nothing of ours installed.

What Numba compiled here goes along: its files say by digests which text and which processor they are of, so a
worker that is another machine compiles anew, and all others are spared a minute.
"""

import atexit
import shutil
import tempfile
import zipfile
from pathlib import Path, PurePath
from typing import Final

PACKAGES: Final = (
    "dens",
    "emulation",
    "knowledge_manager",
    "plugins",
    "spark_analysis",
    "watchdog",
)
"""What a worker may need: the matchers and their words, and for sweeps the emulator."""

_ROOT: Final = Path(__file__).resolve().parents[2]


def is_shipped(path: PurePath) -> bool:
    """Tell whether a file of a package goes along: of Python's caches only compiled kernels do.

    Compiled modules stay: they are for this machine.
    """
    if "_compiled" in path.parts:
        return False
    return "__pycache__" not in path.parts or path.suffix in (".nbi", ".nbc")


def packed_packages() -> Path:
    """Return a new archive of `PACKAGES`, data files included; it is removed when this process ends.

    It is unpacked where it arrives, because scenarios and vocabularies are read as files.
    """
    folder = Path(tempfile.mkdtemp(prefix="dens-packages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive = folder / "dens_packages.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for package in PACKAGES:
            for path in sorted((_ROOT / package).rglob("*")):
                if path.is_file() and is_shipped(path):
                    file.write(path, path.relative_to(_ROOT))
    return archive
