"""The interface of mobility models: a model turns random numbers into straight legs.

A walk is a chain of legs, each a straight line at constant speed (standing still is a leg too). Because every
leg is linear in time, the moments at which two nodes come into range can be computed instead of sampled.

Properties, checked for every model by the same tests:

1. The legs of a node cover the time from 0 to the end of the run without gaps, and none has length 0.
2. A leg begins where the one before it ended.
3. No node leaves the area.
4. The same random generators give the same walk, and a node's walk depends on no other node's generator.

A model may also answer calls (`AnswersCalls`): the node then has other legs from that moment on, with the
first three properties.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Area:
    """The ground, a rectangle with one corner at (0, 0)."""

    width_m: float
    height_m: float


@dataclass(frozen=True, slots=True)
class Legs:
    """The walk of one node: columns with one entry per leg, in the order of time."""

    begin_ms: Floats
    end_ms: Floats
    x0_m: Floats
    y0_m: Floats
    x1_m: Floats
    y1_m: Floats

    def __len__(self) -> int:
        return len(self.begin_ms)

    def place_at(self, at_ms: float) -> Point:
        """Return the place of the node at a moment of its walk."""
        leg = min(int(np.searchsorted(self.end_ms, at_ms)), len(self) - 1)
        begin_ms, end_ms = float(self.begin_ms[leg]), float(self.end_ms[leg])
        share = (at_ms - begin_ms) / (end_ms - begin_ms)
        x0, y0 = float(self.x0_m[leg]), float(self.y0_m[leg])
        if share == 1.0:
            return float(self.x1_m[leg]), float(self.y1_m[leg])
        return x0 + share * (float(self.x1_m[leg]) - x0), y0 + share * (float(self.y1_m[leg]) - y0)

    def until(self, at_ms: float) -> "Legs":
        """Return the walk up to a moment after its beginning, with the last leg cut."""
        kept = int(np.searchsorted(self.begin_ms, at_ms))
        x_m, y_m = self.place_at(at_ms)
        end, x1, y1 = self.end_ms[:kept].copy(), self.x1_m[:kept].copy(), self.y1_m[:kept].copy()
        if end[-1] > at_ms:
            end[-1], x1[-1], y1[-1] = at_ms, x_m, y_m
        return Legs(self.begin_ms[:kept], end, self.x0_m[:kept], self.y0_m[:kept], x1, y1)

    def since(self, at_ms: float) -> "Legs":
        """Return the walk from a moment before its end on, with the first leg cut."""
        first = int(np.searchsorted(self.end_ms, at_ms, side="right"))
        x_m, y_m = self.place_at(at_ms)
        begin, x0, y0 = self.begin_ms[first:].copy(), self.x0_m[first:].copy(), self.y0_m[first:].copy()
        if begin[0] < at_ms:
            begin[0], x0[0], y0[0] = at_ms, x_m, y_m
        return Legs(begin, self.end_ms[first:], x0, y0, self.x1_m[first:], self.y1_m[first:])

    def then(self, rest: "Legs") -> "Legs":
        """Return this walk followed by one that begins where and when this one ends."""
        return Legs(
            *(np.concatenate([getattr(self, column), getattr(rest, column)]) for column in Legs.__slots__)
        )


class MobilityModel(Protocol):
    """Moves a group of nodes."""

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        """Return one walk for each generator in `own`; `together` is for what the whole group shares."""
        ...


class EachAlone(ABC):
    """A model in which walks are independent: subclasses implement the walk of one node."""

    __slots__ = ()

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        """Return one walk for each generator in `own`."""
        return [self.walk(area, duration_ms, rng) for rng in own]

    @abstractmethod
    def walk(self, area: Area, duration_ms: float, rng: np.random.Generator) -> Legs:
        """Return the walk of a node with this generator, up to the end of the run."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call: the legs from then to the end of the run, and when the node is back on duty."""

    legs: Legs
    back_ms: float


class AnswersCalls(Protocol):
    """A model whose nodes can be called to a place."""

    def answer(
        self, here: Point, there: Point, at_ms: float, duration_ms: float, rng: np.random.Generator
    ) -> Answer | None:
        """Return how a node goes from `here` to `there` from this moment on, and back to its duty afterwards;
        None if it cannot.
        """
        ...


def legs_through(times_ms: Floats, x_m: Floats, y_m: Floats, duration_ms: float) -> Legs:
    """Return the legs that pass through these points at these times, cut at the end of the run.

    The times rise strictly, begin before the end of the run, and the last one is not before it.
    """
    last = int(np.searchsorted(times_ms, duration_ms))
    end = times_ms[1 : last + 1].copy()
    x1, y1 = x_m[1 : last + 1].copy(), y_m[1 : last + 1].copy()
    share = (duration_ms - times_ms[last - 1]) / (times_ms[last] - times_ms[last - 1])
    end[-1] = duration_ms
    if share < 1.0:
        x1[-1] = x_m[last - 1] + share * (x_m[last] - x_m[last - 1])
        y1[-1] = y_m[last - 1] + share * (y_m[last] - y_m[last - 1])
    return Legs(times_ms[:last], end, x_m[:last], y_m[:last], x1, y1)


class Path:
    """A walk in the making: where a node is, and how it got there."""

    def __init__(self, x_m: float, y_m: float, begin_ms: float = 0.0) -> None:
        self._times = [begin_ms]
        self._xs = [x_m]
        self._ys = [y_m]

    @property
    def now_ms(self) -> float:
        """Return the end of the walk so far."""
        return self._times[-1]

    @property
    def x_m(self) -> float:
        return self._xs[-1]

    @property
    def y_m(self) -> float:
        return self._ys[-1]

    def wait(self, length_ms: float) -> None:
        """Stand still for this time."""
        self.reach(self.x_m, self.y_m, length_ms)

    def wait_until(self, at_ms: float) -> None:
        """Stand still until exactly this time, unless it has passed."""
        if at_ms > self.now_ms:
            self._times.append(at_ms)
            self._xs.append(self.x_m)
            self._ys.append(self.y_m)

    def walk_to(self, x_m: float, y_m: float, speed_m_per_ms: float) -> None:
        """Go straight to a point."""
        self.reach(x_m, y_m, hypot(x_m - self.x_m, y_m - self.y_m) / speed_m_per_ms)

    def reach(self, x_m: float, y_m: float, length_ms: float) -> None:
        """Be at a point after this time. A length of 0 adds no leg."""
        at_ms = self.now_ms + length_ms
        if at_ms > self.now_ms:
            self._times.append(at_ms)
            self._xs.append(x_m)
            self._ys.append(y_m)

    def legs(self, duration_ms: float) -> Legs:
        """Return the legs up to the end of the run, which the walk must have reached."""
        return legs_through(np.array(self._times), np.array(self._xs), np.array(self._ys), duration_ms)
