"""What one measurement says, and how a benchmark module offers it.

A benchmark module here has a function `measure() -> Iterable[Measurement]`; its file name is the name
that `make bench ONLY=…` takes. Machines are noisy, so a goal is always a ratio of two things measured in
the same run, or a count that does not depend on the machine.
"""

import json
from dataclasses import asdict, dataclass

from dens_experiments.processor_time import processor_seconds

__all__ = ["Measurement", "alone", "at_least", "at_most", "beside", "processor_seconds"]


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
    _check(goal)
    ratio = ours / peer
    return Measurement(name, ours, peer, ratio, goal, ratio >= goal)


def at_most(name: str, ours: float, peer: float, goal: float) -> Measurement:
    """Measure something of which less is better: ours ÷ peer must not exceed the goal."""
    _check(goal)
    ratio = ours / peer
    return Measurement(name, ours, peer, ratio, goal, ratio <= goal)


def beside(name: str, ours: float, peer: float) -> Measurement:
    """Put ours beside something that is no goal: a limit, a figure of another machine, ours of before. It is
    a figure, and holds nothing.
    """
    return Measurement(name, ours, peer, ours / peer, None, None)


def alone(name: str, ours: float) -> Measurement:
    """Tell a figure that nothing here can be put beside."""
    return Measurement(name, ours, None, None, None, None)


def _check(goal: float) -> None:
    if not goal > 0:
        raise ValueError("a goal of nothing is reached by anything; tell it as a figure (`beside`, `alone`)")
