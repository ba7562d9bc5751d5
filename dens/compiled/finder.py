"""Lets Python import compiled modules in place of their text, if they are of this very text.

A changed file must never be shadowed by what was compiled from an earlier one. So the files are read once
when the first of our rooms is imported (a few milliseconds), and if they say anything else than when they
were compiled, everything runs as pure Python. Results are the same to the byte; only the time differs.
"""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from dens.compiled.record import GROUP, PLACE, ROOT, SUFFIX, Record, read_record
from dens.compiled.text import digest

SWITCH: Final = "DENS_PURE"
"""`DENS_PURE=1` in the environment takes the text though it is compiled."""


class Form(NamedTuple):
    """How the engine runs in this process."""

    is_compiled: bool
    why: str
    advice: str = ""


@cache
def use_compiled() -> Form:
    """Let compiled modules be found first, if there are any of the present text; say which form is taken."""
    record = read_record(PLACE)
    form = choose(record, os.environ.get(SWITCH, ""))
    if form.is_compiled and record is not None:
        sys.meta_path.insert(0, _CompiledFinder(PLACE / record.folder, record.modules))
    return form


def choose(record: Record | None, switch: str, root: Path = ROOT) -> Form:
    """Return which form is right for this text."""
    if switch not in ("", "0"):
        return Form(False, f"{SWITCH} is set")
    if record is None:
        return Form(False, "it was not compiled", "make install compiles it where there is a C compiler")
    if digest(root, record.text) != record.digest:
        return Form(False, "its text has changed since it was compiled", "make install compiles it again")
    return Form(True, f"{len(record.modules)} modules")


class _CompiledFinder(MetaPathFinder):
    """Knows the compiled modules by name, and where they lie."""

    def __init__(self, folder: Path, modules: dict[str, str]) -> None:
        library = f"{GROUP}__mypyc"
        self._files = {name: folder / file for name, file in modules.items()}
        self._files[library] = folder / f"{library}{SUFFIX}"

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load this module, if it is compiled."""
        file = self._files.get(fullname)
        if file is None:
            return None
        return spec_from_file_location(fullname, file, loader=ExtensionFileLoader(fullname, str(file)))
