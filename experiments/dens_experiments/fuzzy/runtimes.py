"""The interpreters that figures are measured in: CPython, MicroPython, and the emulated micro:bit."""

import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import watchdog
from dens.config.refusal import Refusal
from dens_experiments.family import UnknownFigure

MICROBIT: Final = "microbit"
"""What `--on` calls the emulated board; any other text is the command of an interpreter."""

TIMEOUT_S: Final = 300

_LAYING_DOWN = """
import sys
import os
FILES = {files}
if sys.implementation.name != "cpython":
    for folder in ("/lib", "/lib/watchdog"):
        try:
            os.mkdir(folder)
        except OSError:
            pass
    for name in FILES:
        file = open("/lib/watchdog/" + name, "w")
        file.write(FILES[name])
        file.close()
    sys.path.append("/lib")
"""


class RuntimeFailed(Refusal):
    """The interpreter of the board could not run the program."""


def with_watchdog(program: str) -> str:
    """Return a program that lays the package `watchdog` down where it runs, and then does its work."""
    package = Path(watchdog.__file__).parent
    files = {path.name: path.read_text("utf-8") for path in sorted(package.glob("*.py"))}
    return _LAYING_DOWN.format(files=repr(files)) + program


def command_of(text: str) -> list[str]:
    """Return the words of an interpreter's command; `UnknownFigure` if they are invalid or the program is
    missing.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UnknownFigure(f"--on {text!r} is not a command: {str(error).lower()}") from None
    if not words:
        raise UnknownFigure(f"--on names {MICROBIT} or the command of an interpreter, and not nothing")
    if shutil.which(words[0]) is None:
        raise UnknownFigure(f"--on {text!r}: program {words[0]!r} is not installed")
    return words


def ran(command: list[str], script: str) -> tuple[str, float]:
    """Run a script and return what it printed and the processor time of it all, in seconds.

    A program that came to its end has printed `done`; otherwise `RuntimeFailed` contains its last output.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(script)
        file.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(
                [*command, file.name],
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
                env={**os.environ, "PYTHONPATH": str(Path(watchdog.__file__).parents[1])},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RuntimeFailed(f"{shlex.join(command)}: {error}") from None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "done" not in done.stdout.splitlines():
        output = (done.stdout + done.stderr).strip().splitlines() or ["it printed nothing"]
        raise RuntimeFailed(f"{shlex.join(command)} did not run the measurement: {output[-1]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpython() -> list[str]:
    """Return the command of this interpreter."""
    return [sys.executable]


def webassembly() -> list[str] | None:
    """Return the command of the newest MicroPython for WebAssembly that the board tests have fetched here."""
    node = shutil.which("node")
    built = Path(watchdog.__file__).parents[1] / ".build" / "boards"
    found = sorted(built.glob("micropython-*/micropython.mjs"))
    return [node, str(found[-1])] if node and found else None


def has_microbit() -> bool:
    """Return whether the board's emulator and its firmware are installed."""
    from dens.boards.emulator.microbit import BoardMissing, emulator, firmware

    try:
        firmware()
        emulator()
    except BoardMissing:
        return False
    return True
