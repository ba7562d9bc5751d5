"""Makes what goes on a board: flat, minified modules for the micro:bit, the package itself for boards with
folders.

A board with folders gets `package.json` (for `mip install` from that folder) and `manifest.py` (for freezing
into a firmware), and with a cross-compiler every module as `.mpy` instead of source.
"""

import json
import subprocess
from pathlib import Path

import watchdog
from studio.board.budget import PARTS
from studio.board.bundle import bundle

FLAT_BOARDS = ("microbit",)
FOLDER_BOARDS = ("esp32", "pico")

_USED_BY_PROGRAMS = frozenset(
    {"EXPIRY", "KEY", "Pool", "Scan", "judge", "put", "remove", "renew", "search", "prepare", "begin"}
    | {"advance", "vector", "length", "count", "blocks"}
)
"""What a program on the board may name; everything else is renamed or left out."""


class UnknownBoard(Exception):
    """There is no such board; the message lists those that there are."""


def build_board(board: str, folder: Path, version: str, mpy_cross: Path | None = None) -> list[Path]:
    """Write the board's files into a folder, which is made where it is missing; return them, sorted."""
    if board in FLAT_BOARDS:
        files = {
            name + ".py": source
            for name, source in bundle(PARTS, keep=_USED_BY_PROGRAMS, feature_bytes=1).items()
        }
    elif board in FOLDER_BOARDS:
        package = Path(watchdog.__file__).parent
        files = {"watchdog/" + path.name: path.read_text(encoding="utf-8") for path in package.glob("*.py")}
    else:
        raise UnknownBoard(f"{board} is none of {', '.join(sorted(FLAT_BOARDS + FOLDER_BOARDS))}")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if board in FLAT_BOARDS:
        return sorted(folder / name for name in files)
    names = sorted(files)
    if mpy_cross is not None:
        names = [_compiled(folder, name, mpy_cross) for name in names]
    listing = {"urls": [[name, name] for name in names], "deps": [], "version": version}
    (folder / "package.json").write_text(json.dumps(listing, indent=2) + "\n", encoding="utf-8")
    manifest = f'metadata(version="{version}")\npackage("watchdog")\n'
    (folder / "manifest.py").write_text(manifest, encoding="utf-8")
    return sorted(folder / name for name in [*names, "manifest.py", "package.json"])


def _compiled(folder: Path, name: str, mpy_cross: Path) -> str:
    """Replace a source by what the cross-compiler makes of it; return its name."""
    source = folder / name
    target = source.with_suffix(".mpy")
    subprocess.run([str(mpy_cross), "-O3", "-s", name, "-o", str(target), str(source)], check=True)
    source.unlink()
    return str(target.relative_to(folder))
