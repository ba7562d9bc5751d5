"""Runs programs on MicroPython for WebAssembly."""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.dens.boards.install import NODE, wasm_folder


def run_on_wasm(version: str, program: str, files: Mapping[Path, str]) -> str:
    """Run a program and return what it printed; `files` maps host files to their places on the board, whose
    modules lie in /lib. An exception of the program fails the test with its traceback.
    """
    assert (wasm_folder(version) / "micropython.mjs").is_file(), (
        "MicroPython %s for WebAssembly is not installed: run tests/dens/boards/install.py, "
        "or set DENS_WITHOUT_BOARDS=1 to go on without boards" % version
    )
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as main:
        main.write(program)
        main.flush()
        done = subprocess.run(
            [
                str(NODE),
                str(Path(__file__).parent / "run_wasm.mjs"),
                str(wasm_folder(version)),
                main.name,
                *(str(host) + "=" + board for host, board in files.items()),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
