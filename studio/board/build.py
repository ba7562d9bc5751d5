"""Makes what goes on a board: flat, minified modules for the micro:bit, the package itself for boards with
folders.

A board with folders gets `package.json` (for `mip install` from that folder) and `manifest.py` (for freezing
into a firmware), and with a cross-compiler every module as `.mpy` instead of source.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import watchdog
from studio.board.budget import PARTS
from studio.board.bundle import bundle
from studio.failures import Refusal
from studio.files import write_whole
from watchdog.vector import VectorError, check_subscription

FLAT_BOARDS = ("microbit",)
FOLDER_BOARDS = ("esp32", "pico")

_USED_BY_PROGRAMS = frozenset(
    {"EXPIRY", "KEY", "Pool", "Scan", "judge", "put", "remove", "renew", "search", "prepare", "begin"}
    | {"advance", "vector", "length", "count", "blocks"}
)
"""What a program on the board may name; everything else is renamed or left out."""


LISTING = "board.json"
"""What a built folder is for, and which of its files go on the board."""

SUBSCRIPTIONS = "subscriptions.bin"
"""Subscriptions that a board looks for from its start: two bytes of length, then the vector, each."""


class UnknownBoard(Refusal):
    """There is no such board; the message lists those that there are."""


def build_board(
    board: str,
    folder: Path,
    version: str,
    mpy_cross: Path | None = None,
    subscriptions: Sequence[bytes] = (),
) -> list[Path]:
    """Write the board's files into a folder that is new, empty, or was built before; return them, sorted.

    What an earlier build left there is removed first. A subscription that the board cannot hold is refused
    before anything is written.
    """
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
    packed = packed_subscriptions(subscriptions, plain_only=board in FLAT_BOARDS)
    _clear(folder)
    for name, text in files.items():
        write_whole(folder / name, text.encode())
    names = sorted(files)
    if board in FOLDER_BOARDS and mpy_cross is not None:
        names = [_compiled(folder, name, mpy_cross) for name in names]
    if packed:
        write_whole(folder / SUBSCRIPTIONS, packed)
        names.append(SUBSCRIPTIONS)
    beside = [LISTING]
    if board in FOLDER_BOARDS:
        listing = {"urls": [[name, name] for name in names], "deps": [], "version": version}
        write_whole(folder / "package.json", (json.dumps(listing, indent=2) + "\n").encode())
        write_whole(folder / "manifest.py", f'metadata(version="{version}")\npackage("watchdog")\n'.encode())
        beside += ["manifest.py", "package.json"]
    facts = {"board": board, "version": version, "files": names, "beside": beside}
    write_whole(folder / LISTING, (json.dumps(facts, indent=2) + "\n").encode())
    return sorted(folder / name for name in [*names, *beside])


def packed_subscriptions(subscriptions: Sequence[bytes], plain_only: bool = False) -> bytes:
    """Return the bytes of SUBSCRIPTIONS for these vectors; what no board could use is refused.

    `plain_only` is for boards that know the aggregators 0 to 5.
    """
    packed = b""
    for number, vector in enumerate(subscriptions):
        try:
            check_subscription(vector, 1)
        except VectorError as error:
            raise Refusal(f"subscription {number} is not a vector with one-byte features: {error}") from error
        if plain_only and vector[5] & 15 > 5:
            raise Refusal(f"subscription {number} has aggregator {vector[5] & 15}; this board knows 0 to 5")
        packed += len(vector).to_bytes(2, "big") + vector
    return packed


def built(folder: Path) -> dict[str, Any]:
    """Return what an earlier build says of this folder; a folder that was not built is refused."""
    try:
        facts = json.loads((folder / LISTING).read_text(encoding="utf-8"))
        board, files = facts["board"], facts["files"]
    except FileNotFoundError:
        raise Refusal(f"{folder} has no {LISTING}; make it with: dens board build -o {folder}") from None
    except (ValueError, KeyError, TypeError):
        raise Refusal(f"{folder / LISTING} is damaged; build the folder anew") from None
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:
        raise Refusal(f"{folder} lacks {', '.join(missing)}; build it anew")
    return {"board": board, "files": files, "beside": facts.get("beside", [])}


def _clear(folder: Path) -> None:
    """Remove what an earlier build left; refuse a folder in which somebody else's files are."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / LISTING).is_file():
        raise Refusal(f"{folder} is not empty and was not built before; name a new folder")
    facts = json.loads((folder / LISTING).read_text(encoding="utf-8"))
    for name in [*facts["files"], *facts["beside"]]:
        (folder / name).unlink(missing_ok=True)


def _compiled(folder: Path, name: str, mpy_cross: Path) -> str:
    """Replace a source by what the cross-compiler makes of it; return its name."""
    source = folder / name
    target = source.with_suffix(".mpy")
    subprocess.run([str(mpy_cross), "-O3", "-s", name, "-o", str(target), str(source)], check=True)
    source.unlink()
    return str(target.relative_to(folder))
