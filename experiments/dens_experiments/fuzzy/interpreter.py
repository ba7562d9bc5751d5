"""Figures 7a and 7d in a board's interpreter beside CPython.

Both interpreters run the same program with the same `watchdog` package: one script that lays the package
down and works; what counts is the processor time that it takes, less that of one that does nothing. The
interpreter is any MicroPython that takes a script as its argument, such as `node micropython.mjs`
(WebAssembly) or `micropython`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dens_experiments.family import Request
from dens_experiments.fuzzy.expressiveness import BREAK_DOWN
from dens_experiments.fuzzy.runtimes import command_of, cpython, ran, with_watchdog
from dens_experiments.fuzzy.settings import Settings, settings_of
from dens_experiments.fuzzy.workload import MIN, PATTERN, Form
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, sampled
from dens_experiments.tables import number

COUNTS: Final = (40, 100, 200)
SMALL_COUNTS: Final = (40, 100)
EVENTS: Final = 4
TRIED, ENOUGH_S, MOST_ROUNDS = 4, 0.6, 4000
"""Rounds of a first try, processor time that a measurement should take, and the most rounds there are."""

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


def emptied():
    source = filled()
    number = 0
    for vector in VECTORS:
        source.remove((number >> 8, number & 255))
        number += 1


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


def fig7a(request: Request, tell: Tell) -> Panel:
    """Insert into the watchdog's filter, delete again, and filter one reading."""
    settings = settings_of(request, COUNTS, SMALL_COUNTS)
    steps = {
        "inserting all": ("filled", 1),
        "and deleting all": ("emptied", 1),
        "a reading": ("filter_all", EVENTS),
    }
    lines = {}
    runtimes = _runtimes(request)
    for name, (action, readings) in steps.items():
        for runtime, command in runtimes:

            def take(count: int, seed: int, command=command, action=action, readings=readings) -> Sample:  # type: ignore[no-untyped-def]
                vectors = settings.workload.subscriptions(count, seed)
                return Sample(measured(command, _FILTERING, vectors, settings, seed, readings, action), {})

            called = f"{name}, {runtime}"
            lines[called] = sampled(called, settings.counts, settings.seeds, take, tell)
    return Panel(
        "a) the watchdog's filter on a board's runtime",
        "subscriptions",
        "ms",
        settings.counts,
        lines,
        "insertion can be neglected without covering",
        (),
        _ratios(lines),
        setting=settings.words(),
    )


def fig7d(request: Request, tell: Tell) -> Panel:
    """Compute all degrees of one reading: flat, and broken down."""
    settings = settings_of(request, COUNTS, SMALL_COUNTS)
    settings = replace(settings, workload=settings.workload.for_forms(PATTERN))
    forms: dict[str, Form] = {"flat, min": MIN, **BREAK_DOWN}
    lines = {}
    runtimes = _runtimes(request)
    for name, form in forms.items():
        for runtime, command in runtimes:

            def take(count: int, seed: int, command=command, form=form) -> Sample:  # type: ignore[no-untyped-def]
                vectors = settings.workload.subscriptions(count, seed, form)
                return Sample(measured(command, _SCORING, vectors, settings, seed), {})

            called = f"{name}, {runtime}"
            lines[called] = sampled(called, settings.counts, settings.seeds, take, tell)
    flat = lines["flat, min, MicroPython"].means[-1]
    ratios = [lines[f"{name}, MicroPython"].means[-1] / flat for name in BREAK_DOWN]
    shapes = (
        Shape(
            "break-down takes about 6 times as long as flat (in NEMAN)",
            "on MicroPython patterns {}, order 1 {}, order 0 {} times".format(*map(number, ratios)),
            verdict(min(ratios) >= 3, max(ratios) > 1.5),
        ),
        *_ratios(lines),
    )
    return Panel(
        "d) break-down beside flat on a board's runtime",
        "subscriptions",
        "ms a reading",
        settings.counts,
        lines,
        "in NEMAN break-down took about 6 times as long",
        (),
        shapes,
        ("Every degree is computed, whatever its feature: no algorithm, only the arithmetic.",),
        settings.words(),
    )


def _ratios(lines: Mapping[str, Line]) -> tuple[Shape, ...]:
    pairs = [
        (line.means[-1], lines[name.replace("MicroPython", "CPython")].means[-1])
        for name, line in lines.items()
        if name.endswith("MicroPython")
    ]
    ratios = [slow / quick for slow, quick in pairs if quick > 0.0]
    if not ratios:  # All that was measured is below the clock's step.
        return ()
    return (
        Shape(
            "a device is slower, and in the same order",
            f"MicroPython takes {number(min(ratios))} to {number(max(ratios))} times as long as CPython",
            verdict(min(ratios) > 1),
        ),
    )


def _runtimes(request: Request) -> tuple[tuple[str, list[str]], ...]:
    """Return both interpreters; one that does not run is refused before anything is measured."""
    command = command_of(request.on[0])
    ran(command, "print('done')\n")
    return ("CPython", cpython()), ("MicroPython", command)


def measured(
    command: list[str],
    program: str,
    vectors: list[bytes],
    settings: Settings,
    seed: int,
    readings: int = EVENTS,
    action: str = "",
) -> float:
    """Return the milliseconds of one reading: processor time of a run, less that of one that does nothing."""
    rows = [bytes(reading.row) for reading in settings.workload.readings(EVENTS, seed)]
    told = {"vectors": ", ".join(map(repr, vectors)), "rows": ", ".join(map(repr, rows)), "action": action}

    def spent(rounds: int) -> float:
        return ran(command, with_watchdog(program.format(rounds=rounds, **told)))[1]

    start = min(spent(0) for _ in range(2))
    rounds = min(max(round(ENOUGH_S / max(spent(TRIED) - start, 0.001) * TRIED), TRIED), MOST_ROUNDS)
    return max(spent(rounds) - start, 0.0) / (rounds * readings) * 1e3
