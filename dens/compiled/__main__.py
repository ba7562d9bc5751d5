"""`python -m dens.compiled`: the step of `make install` that compiles the engine where a C compiler is found.

It always ends 0: without a compiler, and where compiling fails, DENS is pure Python and says so.
"""

import fcntl
import importlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sysconfig import get_config_var, get_path
from typing import Final

from dens.compiled.finder import SWITCH, choose
from dens.compiled.record import PLACE, ROOT, read_record, record_file
from dens.compiled.text import PINS

SLOWER: Final = "pure Python, which takes nearly twice as long; results are the same"


def main() -> int:
    """Compile if that is wanted, possible and not done yet; say what was taken."""
    with _alone():
        _compile_if_wanted()
    return 0


def _compile_if_wanted() -> None:
    if choose(read_record(PLACE), os.environ.get(SWITCH, "")).is_compiled:
        _say("The engine is compiled.")
    elif os.environ.get(SWITCH, "") not in ("", "0"):
        _say(f"{SWITCH} is set: {SLOWER}.")
    elif missing := lack():
        _say(f"{missing}: {SLOWER}.")
    else:
        _compile()


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time compile in this tree; another waits until that one is done."""
    PLACE.mkdir(parents=True, exist_ok=True)
    opened = os.open(PLACE, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _compile() -> None:
    _say("Compiling the engine (some minutes; results are the same without) …")
    begin = time.monotonic()
    pip = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", PINS]
    log = PLACE / "log.txt"
    with log.open("w") as output:
        done = all(
            _runs(arguments, output.fileno()) for arguments in (pip, ["-m", "dens.compiled.build"], _USE)
        )
    if done:
        _say(f"The engine is compiled ({time.monotonic() - begin:.0f} s).")
    else:
        record_file(PLACE).unlink(missing_ok=True)
        _say(f"The engine could not be compiled, as {log.relative_to(ROOT)} tells: {SLOWER}.")


def lack() -> str:
    """Return what is missing to compile at all; nothing if it is all there."""
    compiler = shlex.split(os.environ.get("CC") or get_config_var("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        return f"No C compiler found ({compiler})"
    if not (Path(get_path("include")) / "Python.h").is_file():
        return "Python's header files are not installed (on Debian and Ubuntu: python3-dev)"
    return ""


def import_all() -> None:
    """Import every compiled module, as a proof that what was compiled can be used."""
    from dens.compiled.finder import use_compiled

    record = read_record(PLACE)
    if record is None or not use_compiled().is_compiled:
        raise RuntimeError("what was compiled is not used")
    for name in record.modules:
        importlib.import_module(name)


_USE: Final = ["-c", "from dens.compiled.__main__ import import_all; import_all()"]


def _runs(arguments: list[str], output: int) -> bool:
    return not subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, stdout=output, stderr=output, check=False
    ).returncode


def _say(what: str) -> None:
    sys.stderr.write(what + "\n")


if __name__ == "__main__":
    sys.exit(main())
