"""What one measurement says, and how a benchmark module offers it.

A benchmark module here has a function `measure() -> Iterable[Measurement]`; its file name is the name
that `make bench ONLY=…` takes. Machines are noisy, so a goal is always a ratio of two things measured in
the same run, or a count that does not depend on the machine.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Measurement:
    """Ours beside the peer's, in the unit that the name says. `holds` is computed, never claimed; a figure
    without a goal holds nothing, and one that stands alone has no peer."""

    name: str
    ours: float
    peer: float | None
    ratio: float | None
    goal: float | None
    holds: bool | None

    def as_line(self) -> str:
        """Return the JSON line that `make bench` prints."""
        return json.dumps(asdict(self))


def at_least(name: str, ours: float, peer: float, goal: float) -> Measurement:
    """Measure something of which more is better: ours ÷ peer must reach the goal."""
    ratio = ours / peer
    return Measurement(name, ours, peer, ratio, goal, ratio >= goal)


def at_most(name: str, ours: float, peer: float, goal: float) -> Measurement:
    """Measure something of which less is better: ours ÷ peer must not exceed the goal."""
    ratio = ours / peer
    return Measurement(name, ours, peer, ratio, goal, ratio <= goal)


def beside(name: str, ours: float, peer: float) -> Measurement:
    """Put ours beside something that is no goal: a limit, or a figure of another machine."""
    return Measurement(name, ours, peer, ours / peer, None, None)


def alone(name: str, ours: float) -> Measurement:
    """Tell a figure that nothing here can be put beside."""
    return Measurement(name, ours, None, None, None, None)


def processor_seconds(*apart_from: int) -> float:
    """Return the processor time that this process and all it started and still has below it have used,
    apart from some of them, by number, and what is below those.

    On a machine that others use as well, this says what a piece of work takes where a clock does not.
    """
    below: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # it ended just now
            continue
        number = int(status.parent.name)
        below.setdefault(int(fields[1]), []).append(number)
        used[number] = sum(map(int, fields[11:15]))
    ticks, waiting = 0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        if number not in apart_from:
            ticks += used.get(number, 0)
            waiting += below.get(number, [])
    return ticks / os.sysconf("SC_CLK_TCK")
