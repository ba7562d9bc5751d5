"""Imports compiled modules in place of their source, if they were compiled from exactly this source.

`compile_engine.py` at the top of the repository compiles: for a checkout (`make compiled`) and for wheels. An
edited file must never be shadowed by older machine code. So the source files are read once, when the first
package with compiled modules is imported (a few milliseconds); if they differ from what was compiled,
everything runs as pure Python. Results are the same to the byte, only the time differs.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

SWITCH: Final = "DENS_PURE"
"""`DENS_PURE=1` in the environment runs the source although it is compiled."""
LIBRARY: Final = "dens_engine__mypyc"
"""The one library with the code of all compiled modules."""
SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""Names the Python and the machine that compiled modules are for."""
ROOT: Final = Path(__file__).resolve().parents[1]
CHECKOUT: Final = ROOT / ".build" / "compiled"
"""Where `make compiled` puts its result."""
INSTALLED: Final = ROOT / "dens" / "_compiled"
"""Where a wheel has it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One successful compilation."""

    folder: str
    """Its folder, beside the record."""
    modules: dict[str, str]
    """Dotted name of every compiled module, and its file in the folder."""
    sources: list[str]
    """The files that it depends on."""
    digest: str
    """Digest of these files when they were compiled."""


class Form(NamedTuple):
    """How the engine runs in this process."""

    is_compiled: bool
    why: str
    advice: str = ""


@cache
def use_compiled() -> Form:
    """Put compiled modules before their source if they are up to date; return which form is used."""
    place, record = find_record()
    form = choose_form(record, os.environ.get(SWITCH, ""))
    if form.is_compiled and record is not None:
        sys.meta_path.insert(0, _CompiledFinder(place / record.folder, record.modules))
    return form


def find_record() -> tuple[Path, Record | None]:
    """Return the record of this checkout or installation, and its folder."""
    for place in (CHECKOUT, INSTALLED):
        if (record := read_record(place)) is not None:
            return place, record
    return CHECKOUT, None


def choose_form(record: Record | None, switch: str, root: Path = ROOT) -> Form:
    """Return which form is right for the present source."""
    if switch not in ("", "0"):
        return Form(False, f"{SWITCH} is set")
    advice = "make compiled" if (root / "Makefile").is_file() else ""
    if record is None:
        return Form(False, "not compiled", advice)
    if digest_files(root, record.sources) != record.digest:
        return Form(False, "the source has changed since it was compiled", advice)
    return Form(True, f"{len(record.modules)} modules")


def record_file(place: Path) -> Path:
    """Return the path of the record for this Python and machine."""
    return place / f"record{SUFFIX}.json"


def read_record(place: Path) -> Record | None:
    """Return what was compiled; None if nothing was, or if the record is unreadable."""
    try:
        found = json.loads(record_file(place).read_bytes())
        record = Record(found["folder"], dict(found["modules"]), list(found["sources"]), found["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    texts = (record.folder, record.digest, *record.sources, *record.modules, *record.modules.values())
    return record if all(isinstance(text, str) for text in texts) else None


def digest_files(root: Path, files: Iterable[str]) -> str:
    """Return a digest of the present content of these files; a missing file counts as empty."""
    digest = hashlib.sha256()
    for name in files:
        try:
            text = (root / name).read_bytes()
        except OSError:
            text = b""
        digest.update(f"{name} {len(text)} ".encode())
        digest.update(text)
    return digest.hexdigest()


class _CompiledFinder(MetaPathFinder):
    """Finds the compiled modules by name."""

    def __init__(self, folder: Path, modules: dict[str, str]) -> None:
        self._files = {name: folder / file for name, file in modules.items()}
        self._files[LIBRARY] = folder / f"{LIBRARY}{SUFFIX}"

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a compiled module, None for any other module."""
        file = self._files.get(fullname)
        if file is None:
            return None
        return spec_from_file_location(fullname, file, loader=ExtensionFileLoader(fullname, str(file)))
