"""Compiles: the text through mypyc to C, and that by the C compiler of this Python.

`python -m dens.compiled.build` does it in the folder of the project and ends 0, or says why not. It runs in a
process of its own because mypyc prints its findings and ends the process that asks.
"""

import shutil
import sys
from pathlib import Path
from typing import Final

from dens.compiled.record import GROUP, PLACE, ROOT, SUFFIX, Record, write_record
from dens.compiled.text import CONFIGURATION, digest, modules_to_compile, text_behind

OPTIMISE: Final = "1"
"""The time is spent in Python's own objects: 2 and 3 take two and four times as long to compile and are not
measurably faster."""


def build() -> Record:
    """Compile everything that is to be compiled, and write the record."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    files = modules_to_compile(ROOT)
    text = text_behind(ROOT)
    now = digest(ROOT, text)
    work, folder = PLACE / "work", PLACE / f"{now[:16]}{SUFFIX}"
    options = [f"--config-file={CONFIGURATION}", f"--cache-dir={PLACE / 'mypy'}"]
    extensions = mypycify(
        [*options, *files], opt_level=OPTIMISE, debug_level="0", target_dir=str(work), group_name=GROUP
    )
    shutil.rmtree(folder, ignore_errors=True)
    distribution = Distribution({"name": GROUP, "ext_modules": extensions})
    command = distribution.get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(folder), str(work / "objects")
    command.ensure_finalized()
    command.run()
    shutil.rmtree(work)
    record = Record(folder.name, {_dotted(name): _compiled_file(name) for name in files}, text, now)
    missing = [file for file in record.modules.values() if not (folder / file).is_file()]
    if missing or digest(ROOT, text) != now:
        raise RuntimeError(f"not compiled: {', '.join(missing) or 'the text changed meanwhile'}")
    write_record(PLACE, record)
    for other in PLACE.glob(f"*{SUFFIX}"):
        if other.name != folder.name:
            shutil.rmtree(other, ignore_errors=True)
    return record


def _dotted(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _compiled_file(file: str) -> str:
    return str(Path(file).with_suffix(SUFFIX))


if __name__ == "__main__":
    build()
    sys.exit(0)
