"""The panels of figure 7 that concern a board, measured in a board's interpreter beside CPython.

Both interpreters run the same program with the same `watchdog` package: one script that lays the package
down, measures and prints. The interpreter is any MicroPython that takes a script as its argument, such as
`node micropython.mjs` (WebAssembly) or `micropython`. What runs on DENS nodes only (covering, predicate
indexes, columns) has no panel here.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import watchdog
from studio.experiments.fig7 import Panel
from studio.experiments.population import GEOMETRIC, PATTERN, PLAIN, notifications, subscriptions
from studio.failures import Refusal

COUNTS: Final = (40, 100, 200)
EVENTS: Final = 4
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
try:
    from time import ticks_us as clock
    PER_SECOND = 1000000
except ImportError:
    from time import process_time as clock
    PER_SECOND = 1


def once(action, rounds):
    begin = clock()
    for _ in range(rounds):
        action()
    return (clock() - begin) / PER_SECOND


def seconds(action):
    rounds = 1
    while once(action, rounds) < 0.1:
        rounds *= 4
    return min([once(action, rounds) for _ in range(3)]) / rounds
"""

_SCORING = """
from watchdog.score import satisfies, vector_degree
VECTORS = [{vectors}]
ROWS = [{rows}]


def score_all():
    for row in ROWS:
        for vector in VECTORS:
            satisfies(vector[5], vector_degree(vector, 1, row))


print("measured", seconds(score_all) * 1000 / len(ROWS))
"""

_FILTERING = """
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading
VECTORS = [{vectors}]
ROWS = [{rows}]


def filled():
    source = FuzzyFilter()
    number = 0
    for vector in VECTORS:
        source.add((number >> 8, number & 255), vector)
        number += 1
    return source


source = filled()
reading = Reading(1)


def filter_all():
    for row in ROWS:
        reading.clear(0, 0, 0)
        for attribute in range(4):
            reading.set(attribute, row[attribute])
        source.feed(reading)


print("measured", seconds({action}) * 1000{per})
"""


class RuntimeFailed(Refusal):
    """The interpreter of the board could not run the program."""


def fig7a(command: str) -> Panel:
    """Insert into the watchdog's filter, and filter one reading."""
    lines = {}
    for name, action, per in (
        ("inserting all", "filled", ""),
        ("filtering a reading", "filter_all", " / len(ROWS)"),
    ):
        for runtime, of in _runtimes(command):
            lines[f"{name}, {runtime}"] = tuple(
                _measured(of, _FILTERING, subscriptions(count), action=action, per=per) for count in COUNTS
            )
    paper = "insertion can be neglected without covering"
    return Panel("a) the watchdog's filter on a board's runtime", "subscriptions", "ms", COUNTS, lines, paper)


def fig7d(command: str) -> Panel:
    """Compute all degrees of one reading: flat, and broken down."""
    kinds = {"min": (0, PLAIN), "bfcpab": (14, PATTERN), "bfcpa1": (8, GEOMETRIC), "bfcpa2": (7, GEOMETRIC)}
    title = "d) break-down beside flat on a board's runtime"
    return _scored(command, title, kinds, "break-down about 6 times flat")


def fig7e(command: str) -> Panel:
    """Compute all degrees of one reading by each aggregator."""
    kinds = {
        "min": (0, PLAIN),
        "product": (2, PLAIN),
        "arithmetic mean": (3, PLAIN),
        "harmonic mean": (5, PLAIN),
        "geometric mean": (4, PLAIN),
        "approximated, order 0": (7, GEOMETRIC),
    }
    paper = "the library's root is the dearest, the approximated one much cheaper"
    return _scored(command, "e) aggregators on a board's runtime", kinds, paper)


BOARD_PANELS: Final[Mapping[str, Callable[[str], Panel]]] = MappingProxyType(
    {panel.__name__: panel for panel in (fig7a, fig7d, fig7e)}
)
"""The panels that concern a board, by name; each takes the command that runs a script."""


def _scored(command: str, title: str, kinds: Mapping[str, tuple[int, bytes]], paper: str) -> Panel:
    lines = {}
    for name, kind in kinds.items():
        for runtime, of in _runtimes(command):
            lines[f"{name}, {runtime}"] = tuple(
                _measured(of, _SCORING, subscriptions(count, *kind)) for count in COUNTS
            )
    return Panel(title, "subscriptions", "ms a reading", COUNTS, lines, paper)


def _runtimes(command: str) -> tuple[tuple[str, list[str]], ...]:
    return ("CPython", [sys.executable]), ("MicroPython", shlex.split(command))


def _measured(command: list[str], program: str, vectors: list[bytes], **blanks: str) -> float:
    """Return what the program measures, in milliseconds."""
    package = Path(watchdog.__file__).parent
    files = {path.name: path.read_text("utf-8") for path in sorted(package.glob("*.py"))}
    rows = [vector[6:10] + bytes(4) for vector in notifications(EVENTS)]
    told = {"vectors": ", ".join(map(repr, vectors)), "rows": ", ".join(map(repr, rows))}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "measure.py"
        script.write_text(
            _LAYING_DOWN.format(files=repr(files)) + program.format(**told, **blanks), encoding="utf-8"
        )
        try:
            done = subprocess.run(
                [*command, str(script)],
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
                cwd=package.parent,
                env={**os.environ, "PYTHONPATH": str(package.parent)},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RuntimeFailed(f"{shlex.join(command)}: {error}") from None
    for line in done.stdout.splitlines():
        if line.startswith("measured "):
            return float(line.split()[1])
    said = (done.stdout + done.stderr).strip().splitlines() or ["it printed nothing"]
    raise RuntimeFailed(f"{shlex.join(command)} did not run the measurement: {said[-1]}")
