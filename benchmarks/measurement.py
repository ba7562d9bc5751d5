"""The result of a measurement.

A benchmark module has a function `measure() -> Iterable[Measurement]`. Machines are noisy, so a goal is
always a ratio of two things measured in the same run, or a count that does not depend on the machine.
"""

import json
from dataclasses import asdict, dataclass

from dens_experiments.processor_time import processor_seconds

__all__ = ["Measurement", "alone", "at_least", "at_most", "beside", "processor_seconds"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A value of ours and of a peer, in the unit of the name. Without a goal, `holds` is None."""

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
    """Return a measurement where more is better: ours ÷ peer has to reach the goal."""
    _check(goal)
    ratio = ours / peer
    return Measurement(name, ours, peer, ratio, goal, ratio >= goal)


def at_most(name: str, ours: float, peer: float, goal: float) -> Measurement:
    """Return a measurement where less is better: ours ÷ peer must not exceed the goal."""
    _check(goal)
    ratio = ours / peer
    return Measurement(name, ours, peer, ratio, goal, ratio <= goal)


def beside(name: str, ours: float, peer: float) -> Measurement:
    """Return a comparison without a goal: with a limit, another machine, or an earlier version."""
    return Measurement(name, ours, peer, ours / peer, None, None)


def alone(name: str, ours: float) -> Measurement:
    """Return a value without a comparison."""
    return Measurement(name, ours, None, None, None, None)


def _check(goal: float) -> None:
    if not goal > 0:
        raise ValueError("a goal has to be above 0; use `beside` or `alone` for a figure without a goal")
