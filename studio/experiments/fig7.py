"""Figure 7 of paper 004, panel by panel: what matching, loading and holding subscriptions costs.

Every panel is a function without arguments that measures and returns a `Panel`. The paper measured a phone
emulator of 2007; what can be compared is the shape: what grows, what stays flat, what is the dearer of two.
Times are of the processor, so that other work on the machine does not count.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from plugins.fuzzy.matching.algorithms import ALGORITHMS
from plugins.language import Matcher
from studio.experiments.population import COUNTS, GEOMETRIC, PATTERN, PLAIN, notifications, subscriptions
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading

ROUNDS: Final = 3
EVENTS: Final = 20


@dataclass(frozen=True, slots=True)
class Panel:
    """A measured figure: its title, what is counted along the bottom, one line of numbers for each name."""

    title: str
    along: str
    unit: str
    points: tuple[int, ...]
    lines: Mapping[str, tuple[float, ...]]
    paper: str

    def markdown(self) -> str:
        """Return the figure as a table."""
        head = f"| {self.along} | " + " | ".join(str(point) for point in self.points) + " |"
        rule = "| --- |" + " ---: |" * len(self.points)
        rows = [
            f"| {name} | " + " | ".join(f"{value:.3g}" for value in values) + " |"
            for name, values in self.lines.items()
        ]
        return "\n".join([f"**{self.title}** ({self.unit}). Paper: {self.paper}", "", head, rule, *rows])

    def draw(self, path: Path) -> None:
        """Write the figure as a picture; the ending of the name says which kind."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 4), layout="constrained")
        axes = figure.subplots()
        for name, values in self.lines.items():
            axes.plot(self.points, values, marker="o", label=name)
        axes.set(title=self.title, xlabel=self.along, ylabel=self.unit, xscale="log", yscale="log")
        axes.set_xticks(self.points, labels=[f"{point:,}" for point in self.points])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        figure.legend(loc="outside right upper")
        figure.savefig(path)


def fig7a() -> Panel:
    """Filter 200 events on a publisher that takes in so many subscriptions at the same time."""
    filtering, inserting = [], []
    readings = [_reading(vector) for vector in notifications(200)]
    for count in COUNTS:
        vectors = subscriptions(count)
        matcher = FuzzyFilter()
        begin = time.process_time()
        for number, vector in enumerate(vectors):
            matcher.add((number >> 8, number & 255), vector)
        inserted = time.process_time()
        for reading in readings:
            matcher.feed(reading)
        filtering.append((time.process_time() - inserted) * 1e3)
        inserting.append((inserted - begin) * 1e3)
    lines = {"filtering 200 events": tuple(filtering), "inserting": tuple(inserting)}
    paper = "insertion can be neglected without covering"
    return Panel("a) 200 events while subscriptions come in", "insertions", "ms", COUNTS, lines, paper)


def fig7b() -> Panel:
    """Filter one event by the flat algorithms."""
    paper = "FNIF grows linearly, FNIFC is flat (about 20 ms) as equality grows to 96 %"
    return _matching("b) filtering one event", ("fnif", "fnifs", "fnifc"), paper)


def fig7c() -> Panel:
    """Load the subscriptions of a publisher."""
    return _loading("c) loading on a publisher", ("fnif", "fnifs", "fnifc"), "covering costs most")


def fig7d() -> Panel:
    """Filter one event by break-down, beside the flat algorithm."""
    kinds = {"fnif": (0, PLAIN), "bfcpab": (14, PATTERN), "bfcpa1": (8, GEOMETRIC), "bfcpa2": (7, GEOMETRIC)}
    lines = {name: tuple(_match_ms(name, count, *kind) for count in COUNTS) for name, kind in kinds.items()}
    paper = "break-down about 6 times flat"
    return Panel("d) break-down beside flat", "subscriptions", "ms an event", COUNTS, lines, paper)


def fig7e() -> Panel:
    """Compare aggregators, the approximated root among them."""
    kinds = {
        "min": (0, PLAIN),
        "product": (2, PLAIN),
        "arithmetic mean": (3, PLAIN),
        "harmonic mean": (5, PLAIN),
        "geometric mean": (4, PLAIN),
        "approximated, order 0": (7, GEOMETRIC),
        "approximated, order 1": (8, GEOMETRIC),
    }
    lines = {name: tuple(_match_ms("fnif", count, *kind) for count in COUNTS) for name, kind in kinds.items()}
    paper = "the library's root is the dearest, the approximated one much cheaper"
    return Panel("e) aggregators", "subscriptions", "ms an event", COUNTS, lines, paper)


def fig7f() -> Panel:
    """Go on to 10,000 subscriptions."""
    points = (100, 1000, 10_000)
    lines = {
        name: tuple(_match_ms(name, count, 0, PLAIN) for count in points)
        for name in ("fnif", "fnifc", "fip", "fast")
    }
    paper = "10,000 subscriptions on a phone"
    return Panel("f) scalability", "subscriptions", "ms an event", points, lines, paper)


def fig7g() -> Panel:
    """Weigh what is held."""
    lines = {
        name: tuple(_kilobytes(name, count) for count in COUNTS) for name in ("fnif", "fnifc", "fip", "fast")
    }
    pools = []
    for count in COUNTS:
        source = FuzzyFilter()
        for number, vector in enumerate(subscriptions(count)):
            source.add((number >> 8, number & 255), vector)
        pools.append(sum(map(sys.getsizeof, source.pool.blocks)) / 1024)
    lines["watchdog's pool"] = tuple(pools)
    paper = "memory for filtering and covering within the 500 KB of a phone"
    return Panel("g) memory", "subscriptions", "KB", COUNTS, lines, paper)


def fig7h() -> Panel:
    """Match one notification on a DENS node."""
    paper = "FNIFS with FNIFC 6.5–7 ms, FIP 6–6.5 ms; crisp negligible"
    names = ("naive", "crisp", "fnif", "fnifs", "fnifc", "fip", "fast")
    return _matching("h) matching on a DENS node", names, paper)


def fig7i() -> Panel:
    """Load the subscriptions of a DENS node."""
    names = ("fnif", "fnifs", "fnifc", "fip", "fast")
    return _loading("i) loading on a DENS node", names, "FIP takes longest")


PANELS: Final[Mapping[str, Callable[[], Panel]]] = MappingProxyType(
    {panel.__name__: panel for panel in (fig7a, fig7b, fig7c, fig7d, fig7e, fig7f, fig7g, fig7h, fig7i)}
)
"""The panels by name, in the paper's order."""


def _reading(notification: bytes) -> Reading:
    reading = Reading(1)
    reading.clear(0, 0, 0)
    for attribute in range(4):
        reading.set(attribute, notification[6 + attribute])
    return reading


def _loaded(name: str, vectors: list[bytes]) -> Matcher:
    matcher = ALGORITHMS[name](None, "subset", 1)
    for number, vector in enumerate(vectors):
        matcher.add((number >> 8, number & 255), vector)
    return matcher


def _match_ms(name: str, count: int, aggregator: int, block: bytes) -> float:
    """Return the milliseconds of one notification, the best of some rounds."""
    matcher = _loaded(name, subscriptions(count, aggregator, block))
    told = notifications(EVENTS)
    matcher.match(told[0], 0, 0)
    return min(_seconds(lambda: [matcher.match(vector, 0, 0) for vector in told]) for _ in range(ROUNDS)) / (
        EVENTS / 1e3
    )


def _matching(title: str, names: tuple[str, ...], paper: str) -> Panel:
    lines = {name: tuple(_match_ms(name, count, 0, PLAIN) for count in COUNTS) for name in names}
    return Panel(title, "subscriptions", "ms an event", COUNTS, lines, paper)


def _loading(title: str, names: tuple[str, ...], paper: str) -> Panel:
    lines = {}
    for name in names:
        _loaded(name, subscriptions(COUNTS[-1]))
        lines[name] = tuple(_load_ms(name, count) for count in COUNTS)
    return Panel(title, "subscriptions", "ms", COUNTS, lines, paper)


def _load_ms(name: str, count: int) -> float:
    vectors = subscriptions(count)
    return min(_seconds(lambda: _loaded(name, vectors)) for _ in range(ROUNDS)) * 1e3


def _kilobytes(name: str, count: int) -> float:
    vectors = subscriptions(count)
    _loaded(name, vectors[:10])
    tracemalloc.start()
    held = _loaded(name, vectors)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held is not None
    return used / 1024


def _seconds(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin
