"""Compiles the hot modules with mypyc: `make compiled` for a checkout, `setup.py` for a wheel.

The modules were chosen by profile: those that process every frame and message, and those that composition
needs for every reading. Compiled modules call each other directly as C functions, so they form one library
and are out of date together. Modules of `dens/overlay` that stay interpreted count as source too, because
their constants and types become part of the compiled code.

Run as a script, it exits with 0 even if the C compiler is missing or compiling fails: DENS then runs as pure
Python, which is slower and gives the same results.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from sysconfig import get_config_var, get_path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from dens.compiled import (  # noqa: E402
    CHECKOUT,
    LIBRARY,
    SUFFIX,
    SWITCH,
    Record,
    choose_form,
    digest_files,
    read_record,
    record_file,
)

COMPILED: Final = (
    "dens/overlay/*.py",
    "dens/overlay/broker/*.py",
    "dens/overlay/covering/*.py",
    "dens/overlay/endpoints/*.py",
    "dens/overlay/mediator/*.py",
    "dens/overlay/session/*.py",
    "dens/overlay/storage/*.py",
    "dens/overlay/wire/*.py",
    "emulation/clock.py",
    "emulation/world/contact_schedule.py",
    "emulation/forwarding/overlay_contacts.py",
    "emulation/forwarding/routed_network.py",
    "emulation/forwarding/topology.py",
    "emulation/world/node.py",
    "emulation/radio.py",
    "emulation/world/reachability.py",
    "emulation/workload/sensing.py",
    "emulation/workload/applications.py",
    "emulation/world/world.py",
    "dens/node/recording/recorder.py",
    "plugins/composite/alternatives.py",
    "plugins/composite/bounds.py",
    "plugins/composite/composer.py",
    "plugins/composite/composites.py",
    "plugins/composite/search/events.py",
    "plugins/composite/search/finder.py",
    "plugins/composite/search/memory.py",
    "plugins/composite/pattern.py",
    "plugins/composite/search/search.py",
    "plugins/composite/search/stacks.py",
    "plugins/composite/vectors.py",
    "plugins/composite/search/watched.py",
)
"""A package with a module here calls `dens.compiled.use_compiled` in its `__init__`. Policies are not here:
classes of other packages derive from them, which compiled classes do not allow."""
SOURCES: Final = (*COMPILED, "dens/interfaces.py", "dens/overlay/**/*.py")
PINS: Final = "requirements/compile.txt"
OPTIMISATION: Final = "1"
"""The time is spent in Python's own objects: levels 2 and 3 take two and four times as long to compile and
are not measurably faster."""

# What is not compiled is unknown to mypyc, so nothing else can become a part of the compiled code. SimPy is
# an exception: mypyc has to know a foreign base class, or it takes ours for a C class.
MYPY_CONFIGURATION: Final = """[mypy]
explicit_package_bases = True
follow_imports = skip
ignore_missing_imports = True
[mypy-dens.overlay.*]
follow_imports = silent
[mypy-dens.interfaces]
follow_imports = silent
[mypy-numpy.*]
follow_imports = skip
follow_imports_for_stubs = True
[mypy-simpy.*]
follow_imports = silent
"""


def find_modules() -> list[str]:
    """Return the files to compile, relative to the root and sorted."""
    return sorted(name for name in _matching(COMPILED) if not name.endswith("/__init__.py"))


def describe_missing_tool() -> str:
    """Return what is missing to compile, empty if nothing is."""
    compiler = shlex.split(os.environ.get("CC") or get_config_var("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        return f"no C compiler found ({compiler})"
    if not (Path(get_path("include")) / "Python.h").is_file():
        return "Python's header files are not installed (on Debian and Ubuntu: python3-dev)"
    return ""


def compile_engine(place: Path, work: Path, recipe: Iterable[str]) -> None:
    """Compile into a folder of `place` and write the record there.

    `recipe` are further files that the result depends on. mypyc prints its findings and exits the process.
    """
    from mypyc.build import mypycify
    from setuptools import Distribution

    os.chdir(ROOT)  # mypyc derives module names from relative paths
    modules = find_modules()
    sources = sorted(_matching(SOURCES) | set(recipe))
    digest = digest_files(ROOT, sources)
    folder = place / f"{digest[:16]}{SUFFIX}"
    work.mkdir(parents=True, exist_ok=True)
    configuration = work / "mypy.ini"
    configuration.write_text(MYPY_CONFIGURATION)
    extensions = mypycify(
        [f"--config-file={configuration}", f"--cache-dir={work / 'mypy'}", *modules],
        opt_level=OPTIMISATION,
        debug_level="0",
        target_dir=str(work / "c"),
        group_name=LIBRARY.removesuffix("__mypyc"),
    )
    shutil.rmtree(folder, ignore_errors=True)
    command = Distribution({"name": LIBRARY, "ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(folder), str(work / "objects")
    command.ensure_finalized()
    command.run()
    compiled = {
        name.removesuffix(".py").replace("/", "."): str(Path(name).with_suffix(SUFFIX)) for name in modules
    }
    missing = [file for file in compiled.values() if not (folder / file).is_file()]
    if missing or digest_files(ROOT, sources) != digest:
        raise RuntimeError(f"not compiled: {', '.join(missing) or 'a source file changed meanwhile'}")
    path = record_file(place)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(asdict(Record(folder.name, compiled, sources, digest)), indent=1))
    part.replace(path)


def main() -> None:
    """Compile this checkout if it is out of date and can be compiled; report the result."""
    slower = "DENS runs as pure Python: slower, with the same results"
    if choose_form(read_record(CHECKOUT), "").is_compiled:
        print("The engine is compiled.")
    elif missing := describe_missing_tool():
        print(f"Not compiled, {missing}. {slower}.")
    else:
        print("Compiling the engine (some minutes) …", flush=True)
        begin = time.monotonic()
        CHECKOUT.mkdir(parents=True, exist_ok=True)
        log = CHECKOUT / "log.txt"
        with log.open("w") as output:
            install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", PINS]
            is_done = all(
                subprocess.call([sys.executable, *step], cwd=ROOT, stdout=output, stderr=output) == 0
                for step in (install, [__file__, "--here"], ["-c", _TRIAL])
            )
        if is_done:
            print(f"The engine is compiled ({time.monotonic() - begin:.0f} s).")
        else:
            record_file(CHECKOUT).unlink(missing_ok=True)
            print(f"The engine could not be compiled, see {log.relative_to(ROOT)}. {slower}.")


def compile_checkout() -> None:
    """Compile into `.build/compiled` and remove earlier results."""
    compile_engine(CHECKOUT, CHECKOUT / "work", (Path(__file__).name, PINS))
    record = read_record(CHECKOUT)
    for other in CHECKOUT.glob(f"*{SUFFIX}"):
        if record is None or other.name != record.folder:
            shutil.rmtree(other, ignore_errors=True)
    shutil.rmtree(CHECKOUT / "work" / "c", ignore_errors=True)
    shutil.rmtree(CHECKOUT / "work" / "objects", ignore_errors=True)


_TRIAL: Final = f"""
import importlib, os
os.environ["{SWITCH}"] = "0"
from dens.compiled import find_record, use_compiled
assert use_compiled().is_compiled
for name in find_record()[1].modules:
    importlib.import_module(name)
"""
"""Imports every compiled module, to prove that the result works."""


def _matching(patterns: Iterable[str]) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)}


if __name__ == "__main__":
    compile_checkout() if "--here" in sys.argv else main()
