"""Runs programs on MicroPython for Unix, whose compiler makes machine code: of x64, and of ARM under QEMU."""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.dens.boards.install import unix_folder

PORTS = {
    "x64": ("amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2", "x86_64"),
    "arm": ("armhf", "arm-linux-gnueabihf", "ld-linux-armhf.so.3", "arm"),
}
"""Port → Debian's architecture, where its libraries lie, what loads them, and what QEMU calls its machine."""


def unix_command(port: str) -> list[str]:
    """Return what starts this port with its own libraries, emulated where the machine is another."""
    architecture, libraries, loader, machine = PORTS[port]
    root = unix_folder(architecture) / "usr"
    assert (root / "bin" / "micropython").is_file(), (
        "MicroPython for Unix is not installed: run tests/dens/boards/install.py, "
        "or set DENS_WITHOUT_BOARDS=1 to go on without boards"
    )
    emulated = [] if platform.machine() == machine else ["qemu-" + machine]
    assert all(shutil.which(name) for name in emulated), "qemu-user is not installed"
    folder = root / "lib" / libraries
    return [*emulated, str(folder / loader), "--library-path", str(folder), str(root / "bin" / "micropython")]


def run_on_unix(
    port: str, program: str, files: Mapping[Path, str], heap_bytes: int = 1 << 20, timeout_s: float = 600
) -> str:
    """Run a program and return what it printed; `files` maps host files to their places on the board, whose
    modules lie in /lib. An exception of the program fails the test with its traceback.
    """
    with tempfile.TemporaryDirectory() as scratch:
        for host, board in files.items():
            place = Path(scratch) / board.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(host)
        main = Path(scratch) / "main.py"
        main.write_text(program, encoding="utf-8")
        done = subprocess.run(
            [*unix_command(port), "-X", "heapsize=%d" % heap_bytes, str(main)],
            cwd=scratch,
            env={**os.environ, "MICROPYPATH": "lib"},
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
