"""Packs our packages for the machines of a cluster, which need no installation of them.

Kernels compiled by Numba are included: they are keyed by source and processor, so workers with another
processor recompile, and all others save a minute.
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
"""What a worker may need: the matchers and vocabularies, and for sweeps the emulator."""

_ROOT: Final = Path(__file__).resolve().parents[2]


def is_shipped(path: PurePath) -> bool:
    """Return whether a file is shipped. Of Python's caches only compiled kernels are; compiled modules are
    for this machine only.
    """
    if "_compiled" in path.parts:
        return False
    return "__pycache__" not in path.parts or path.suffix in (".nbi", ".nbc")


def pack_packages() -> Path:
    """Return a new archive of `PACKAGES` with data files; removed at exit.

    Workers unpack it, because scenarios and vocabularies are read as files.
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
