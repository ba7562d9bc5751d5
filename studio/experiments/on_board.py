"""The panels of figure 7 that concern a board, measured in a board's interpreter beside CPython.

Both interpreters run the same program with the same `watchdog` package: one script that lays the package
down and works; what counts is the processor time that it takes. The interpreter is any MicroPython that takes
a script as its argument, such as `node micropython.mjs` (WebAssembly) or `micropython`. What runs on DENS
nodes only (covering, predicate indexes, columns) has no panel here.
"""

import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import watchdog
from documents.refusal import Refusal
from studio.experiments.fig7 import Panel
from studio.experiments.population import GEOMETRIC, PATTERN, PLAIN, notifications, subscriptions

COUNTS: Final = (40, 100, 200)
EVENTS: Final = 4
TIMEOUT_S: Final = 300
TRIED, ENOUGH_S, MOST_ROUNDS = 4, 0.6, 4000
"""Rounds of a first try, processor time that a measurement should take, and the most rounds there are."""

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

_SCORING = """
from watchdog.score import satisfies, vector_degree
VECTORS = [{vectors}]
ROWS = [{rows}]


def score_all():
    for row in ROWS:
        for vector in VECTORS:
            satisfies(vector[5], vector_degree(vector, 1, row))


for _ in range({rounds}):
    score_all()
print("done")
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


for _ in range({rounds}):
    {action}()
print("done")
"""


class RuntimeFailed(Refusal):
    """The interpreter of the board could not run the program."""


def fig7a(command: str) -> Panel:
    """Insert into the watchdog's filter, and filter one reading."""
    lines = {}
    for name, action, readings in (
        ("inserting all", "filled", 1),
        ("filtering a reading", "filter_all", EVENTS),
    ):
        for runtime, of in _runtimes(command):
            lines[f"{name}, {runtime}"] = tuple(
                _measured(of, _FILTERING, subscriptions(count), readings, action) for count in COUNTS
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


def _measured(
    command: list[str], program: str, vectors: list[bytes], readings: int = EVENTS, action: str = ""
) -> float:
    """Return the milliseconds of one reading: processor time of a run, less that of one that does nothing."""
    package = Path(watchdog.__file__).parent
    files = {path.name: path.read_text("utf-8") for path in sorted(package.glob("*.py"))}
    rows = [vector[6:10] + bytes(4) for vector in notifications(EVENTS)]
    told = {"vectors": ", ".join(map(repr, vectors)), "rows": ", ".join(map(repr, rows)), "action": action}
    head = _LAYING_DOWN.format(files=repr(files))

    def spent(rounds: int) -> float:
        return _processor_s(command, head + program.format(rounds=rounds, **told), package.parent)

    start = min(spent(0) for _ in range(2))
    rounds = min(max(round(ENOUGH_S / max(spent(TRIED) - start, 0.001) * TRIED), TRIED), MOST_ROUNDS)
    return max(spent(rounds) - start, 0.0) / (rounds * readings) * 1e3


def _processor_s(command: list[str], script: str, folder: Path) -> float:
    """Run a script and return the processor time of it all, in seconds."""
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
                env={**os.environ, "PYTHONPATH": str(folder)},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RuntimeFailed(f"{shlex.join(command)}: {error}") from None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "done" not in done.stdout.splitlines():
        said = (done.stdout + done.stderr).strip().splitlines() or ["it printed nothing"]
        raise RuntimeFailed(f"{shlex.join(command)} did not run the measurement: {said[-1]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
