"""Every MicroPython that the package itself runs on, by name; the micro:bit's runs what is made of it.

- `wasm-1.23.0`, `wasm-1.27.0`: WebAssembly, which has no emitter, so the plain text runs;
- `x64-plain`, `x64-native`: 1.25 for Unix without and with the kernels;
- `pico`: the modules of a Pico as they are built, its machine code included, on an ARM that QEMU emulates.
"""

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dens.boards.build import build_board
from dens.boards.settings import board_settings
from knowledge_manager.mission_table import load_mission_table
from tests.dens.boards.install import INTEGRITY, ROOT, cross_compiler
from tests.dens.boards.unix import run_on_unix
from tests.dens.boards.wasm import run_on_wasm

WASM = "wasm-"
NATIVE = ("x64-native", "pico")
"""Those on which readings are judged by machine code."""
RUNTIMES = (*(WASM + version for version in sorted(INTEGRITY)), "x64-plain", *NATIVE)


def package(*, is_native: bool) -> dict[Path, str]:
    """Return the package by where it lies on a board, with or without what is machine code there."""
    return {
        path: "/lib/watchdog/" + path.name
        for path in (ROOT / "watchdog").glob("*.py")
        if is_native or not path.name.startswith("native_")
    }


@cache
def _build() -> tuple[tempfile.TemporaryDirectory[str], dict[Path, str]]:
    """Build for a Pico; return the package by where it lies on the board, and what keeps it there."""
    scratch = tempfile.TemporaryDirectory()
    settings = board_settings(load_mission_table(["weather"]), "weather", ["temperature"], node=1)
    written = build_board("pico", Path(scratch.name), "0", settings, mpy_cross=cross_compiler("1.29"))
    modules = {path: "/lib/watchdog/" + path.name for path in written if path.suffix == ".mpy"}
    return scratch, modules


def built_modules() -> dict[Path, str]:
    """Return the package as it is built for a Pico."""
    return _build()[1]


def run_on(runtime: str, program: str, files: Mapping[Path, str]) -> str:
    """Run a program beside the package and return what it printed."""
    if runtime.startswith(WASM):
        return run_on_wasm(runtime.removeprefix(WASM), program, package(is_native=True) | files)
    if runtime == "pico":
        return run_on_unix("arm", program, built_modules() | files)
    port, _, kernels = runtime.partition("-")
    return run_on_unix(port, program, package(is_native=kernels == "native") | files)
