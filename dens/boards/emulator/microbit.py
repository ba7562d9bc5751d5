"""Runs programs on the micro:bit's real firmware in QEMU: a Cortex-M0 with 16 KB of RAM and MicroPython
1.9.2.

The program's files lie in flash before the board starts, so nothing is typed into it and nothing can be
lost. Time on the board is counted in instructions (64 ns each), so it is the same on every host and under
every load.
"""

import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dens.boards.emulator.flash_image import SCRATCH_MARK, SCRATCH_PAGE, file_system, file_system_start
from dens.config.refusal import Refusal

INSTRUCTION_NS = 64
END_MARK = "--end--"
"""What a program prints as its last line."""


class BoardMissing(Refusal):
    """The emulator or the firmware is not installed."""


class BoardFailure(Refusal):
    """The program on the board raised, or did not come to its end in time."""


def firmware() -> Path:
    """Return where Debian's package puts the firmware."""
    for place in ("/usr/share", "/usr/lib", "/usr/local/share"):
        path = Path(place) / "firmware-microbit-micropython" / "firmware.hex"
        if path.is_file():
            return path
    raise BoardMissing(
        "the micro:bit firmware is not installed: apt-get install firmware-microbit-micropython"
    )


def emulator() -> str:
    """Return the emulator's command."""
    command = shutil.which("qemu-system-arm")
    if command is None:
        raise BoardMissing("qemu-system-arm is not installed: apt-get install qemu-system-arm")
    return command


THERMOMETER = b"from microbit import temperature\n"
STILL_AIR = b"def temperature():return 21".ljust(len(THERMOMETER) - 1) + b"\n"
"""QEMU's chip has no thermometer, and asking it never ends; in its place it is always 21 degrees."""


def has_thermometer(files: Mapping[str, str | bytes]) -> bool:
    """Return whether a built board measures with its chip's own thermometer."""
    return any(THERMOMETER in _bytes(text) for text in files.values())


def in_still_air(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """Return a built board's files for an emulated chip: as long as they were, and it is 21 degrees."""
    return {name: _bytes(text).replace(THERMOMETER, STILL_AIR) for name, text in files.items()}


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


_SET_PARENT_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def die_with_parent() -> Callable[[], None] | None:
    """Return a `preexec_fn` with which a child ends when its parent is killed, None if not on Linux.

    A killed process cannot clean up, and an emulated board would run for ever. The tie is to the thread that
    starts the child, so that thread has to live as long as the child. On other systems `started` ends the
    emulator when it can.
    """
    if sys.platform != "linux":
        return None
    libc, parent = ctypes.CDLL(None), os.getpid()

    def request_signal() -> None:
        libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the request
            os._exit(1)

    return request_signal


@contextmanager
def started(
    files: Mapping[str, str | bytes], serial: str, counted: bool = True, seed: int = 1
) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a board with these files and its serial line at `serial` (as QEMU names it: stdio, pty); end it,
    also if we are killed.

    `counted` time is the same on every host, but waiting takes no time; a board that communicates needs real
    time. With counted time the chip's random numbers come from `seed`; the fragmentation of its heap depends
    on them.
    """
    hex_file = firmware()
    start = file_system_start(hex_file.read_text(encoding="ascii"))
    contents = {name: _bytes(text) for name, text in files.items()}
    image = file_system(contents, SCRATCH_PAGE - start)
    with tempfile.TemporaryDirectory() as folder:
        flash = Path(folder) / "files.bin"
        flash.write_bytes(image)
        mark = Path(folder) / "scratch.bin"
        mark.write_bytes(SCRATCH_MARK)
        process = subprocess.Popen(
            [
                emulator(),
                *("-M", "microbit"),
                *("-device", f"loader,file={hex_file}"),
                *("-device", f"loader,file={flash},addr={start:#x},force-raw=on"),
                *("-device", f"loader,file={mark},addr={SCRATCH_PAGE:#x},force-raw=on"),
                *(("-icount", "shift=6,sleep=off", "-seed", str(seed)) if counted else ()),
                *("-nographic", "-monitor", "none", "-serial", serial),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent(),
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


def run_on_microbit(files: Mapping[str, str | bytes], timeout_s: float = 60, seed: int = 1) -> str:
    """Run `main.py` of these files and return what it printed before END_MARK.

    A traceback, or no mark within `timeout_s` seconds of real time, is a BoardFailure with the output so far.
    """
    with started(files, "stdio", seed=seed) as process:
        return _output(process, time.monotonic() + timeout_s)


def _output(process: "subprocess.Popen[bytes]", deadline: float) -> str:
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    collected = b""
    while True:
        # The serial line begins with a byte of noise when the board comes out of reset.
        text = "".join(c for c in collected.decode("ascii", "ignore") if c.isprintable() or c == "\n")
        if END_MARK + "\n" in text:
            return text[: text.index(END_MARK)]
        if re.search(r"^\w*(Error|Exception|Interrupt|Exit)\b.*\n", text, re.M) and "Traceback" in text:
            raise BoardFailure(text)
        left = deadline - time.monotonic()
        if left <= 0:
            raise BoardFailure("no end within the time allowed; so far:\n" + text)
        if select.select([descriptor], [], [], left)[0]:
            data = os.read(descriptor, 65536)
            if not data:
                raise BoardFailure("the emulator ended; so far:\n" + text)
            collected += data
