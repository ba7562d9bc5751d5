"""What was compiled, from which text, and where it lies: one JSON file beside the compiled modules."""

import json
import os
from dataclasses import asdict, dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

GROUP: Final = "dens_engine"
"""The compiled modules are one library of this name, with a door for each module."""
SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""It names the Python and the machine that compiled modules are for."""
ROOT: Final = Path(__file__).resolve().parents[2]
PLACE: Final = ROOT / ".build" / "compiled"


@dataclass(frozen=True, slots=True)
class Record:
    """One successful compilation."""

    folder: str
    """Where it lies, in `PLACE`."""
    modules: dict[str, str]
    """The dotted name of every compiled module and its file in the folder."""
    text: list[str]
    """The files that it depends on."""
    digest: str
    """What they said."""


def record_file(place: Path) -> Path:
    """Return where the record of this Python and machine is."""
    return place / f"record{SUFFIX}.json"


def read_record(place: Path) -> Record | None:
    """Return what was compiled; None where nothing was, or where the record cannot be read."""
    try:
        found = json.loads(record_file(place).read_bytes())
        record = Record(found["folder"], dict(found["modules"]), list(found["text"]), found["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    words = (record.folder, record.digest, *record.text, *record.modules, *record.modules.values())
    return record if all(isinstance(word, str) for word in words) else None


def write_record(place: Path, record: Record) -> None:
    """Replace the record whole: who reads finds the one before or this one."""
    path = record_file(place)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(asdict(record), indent=1))
    part.replace(path)
