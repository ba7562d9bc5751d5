"""How long a person waits for `dens --help`: at most half a second; bare Python shows the machine's share."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measurement import Measurement, at_most
from benchmarks.sizes import sized

ROUNDS = sized(7, 1)
HALF_A_SECOND = 0.5


def measure() -> Iterator[Measurement]:
    """Take the best of some rounds, ours and bare Python in turn."""
    dens = [str(Path(sys.executable).parent / "dens"), "--help"]
    bare = [sys.executable, "-c", "pass"]
    times = [(_seconds(dens), _seconds(bare)) for _ in range(ROUNDS)]
    ours, python = (min(column) for column in zip(*times, strict=True))
    yield at_most("help_seconds_against_half_a_second", ours, HALF_A_SECOND, 1.0)
    yield at_most("help_seconds_against_bare_python", ours, python, 25.0)


def _seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin
