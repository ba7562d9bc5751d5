"""A folder that was built: what it says of itself, which files its owner edited, and how it is cleared.

`board.json` lies in a folder that people copy about and edit, so what it names is checked before anything is
read or removed.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from dens.boards.board_language import BOARD_CONDITIONS
from dens.config.refusal import Refusal

LISTING = "board.json"
"""What a built folder is for, and which of its files go on the board."""

OWNED = ("sensors.py", "settings.py")
"""Files that a build makes once and their owner edits."""

SECRETS = ("settings.py",)
"""Files that hold the mission's key and the network's password: their owner alone may read them."""


def built(folder: Path) -> dict[str, Any]:
    """Return the record of the build of this folder; a folder that was not built is refused."""
    known = _facts(folder)
    missing = [name for name in known["files"] if not (folder / name).is_file()]
    if missing:
        raise Refusal(f"{folder} lacks {', '.join(missing)}; build it again")
    return known


def digests(files: Mapping[str, str]) -> dict[str, str]:
    """Return digests by which a later build recognises files that were not edited."""
    return {name: _digest(files[name].encode()) for name in OWNED if name in files}


def edited(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the owner's files that differ from both the earlier build and this one."""
    made = _facts(folder)["made"] if (folder / LISTING).is_file() else {}
    found = []
    for name in OWNED:
        path = folder / name
        if path.is_file():
            digest = _digest(path.read_bytes())
            if digest not in (made.get(name), digests(files).get(name)):
                found.append(name)
    return found


def clear(folder: Path, kept: list[str]) -> None:
    """Remove the files of an earlier build except `kept`; refuse a folder with other files."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / LISTING).is_file():
        raise Refusal(f"{folder} is not empty and was not built before; name a new folder")
    facts = _facts(folder)
    for name in [*facts["files"], *facts["beside"]]:
        if name not in kept:
            (folder / name).unlink(missing_ok=True)


def _facts(folder: Path) -> dict[str, Any]:
    """Return the listing; one that is damaged, or names anything outside of the folder, is refused."""
    try:
        facts = json.loads((folder / LISTING).read_text(encoding="utf-8"))
        known = {key: facts[key] for key in ("board", "node", "table_check", "files", "beside")}
        known["made"] = dict(facts.get("made", {}))
        known["link"] = facts.get("link", True) is True
        known["condition"] = facts.get("condition", BOARD_CONDITIONS[0])
        names = [*known["files"], *known["beside"]]
        is_sound = (
            isinstance(known["board"], str)
            and known["condition"] in BOARD_CONDITIONS
            and all(isinstance(known[key], int) for key in ("node", "table_check"))
            and all(isinstance(known[key], list) for key in ("files", "beside"))
            and all(isinstance(name, str) and name for name in names)
        )
    except FileNotFoundError:
        raise Refusal(f"{folder} has no {LISTING}; make it with: dens board build -o {folder}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_sound = False
    if not is_sound:
        raise Refusal(f"{folder / LISTING} is damaged; build into a new folder")
    outside = [name for name in names if not _is_inside(folder, name)]
    if outside:
        raise Refusal(f"{folder / LISTING} names {outside[0]!r}, which is not in {folder}; it is damaged")
    return known


def _is_inside(folder: Path, name: str) -> bool:
    """Return whether a listed name is one of the folder's own, links followed."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or any(char in name for char in "\\:\0"):
        return False
    return (folder / name).parent.resolve().is_relative_to(folder.resolve())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
