"""What a mobility model is: it turns chance into straight legs.

A walk is a chain of legs, each a straight line at constant speed (standing still is a leg too). Because
every leg is linear in time, the moments at which two nodes come into range can be solved instead of
sampled.

Laws, checked for every model by the same tests:

1. The legs of a node follow each other without a gap from 0 to the end of the run, each longer than nothing.
2. A leg begins where the one before it ended.
3. Nobody leaves the area.
4. The same streams give the same walk, and one node's walk depends on no other node's stream.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Area:
    """The ground, a rectangle with one corner at (0, 0)."""

    width_m: float
    height_m: float


@dataclass(frozen=True, slots=True)
class Legs:
    """The walk of one node: equally long columns, one entry a leg, in the order of time."""

    begin_ms: Floats
    end_ms: Floats
    x0_m: Floats
    y0_m: Floats
    x1_m: Floats
    y1_m: Floats

    def __len__(self) -> int:
        return len(self.begin_ms)


class MobilityModel(Protocol):
    """Moves a group of nodes."""

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        """Return one walk for each stream of `own`; `together` is for what the whole group shares."""
        ...


def legs_through(times_ms: Floats, x_m: Floats, y_m: Floats, duration_ms: float) -> Legs:
    """Return the legs that pass through these points at these times, cut at the end of the run.

    The times rise strictly from 0 and the last one is not before the end of the run.
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

    def __init__(self, x_m: float, y_m: float) -> None:
        self._times = [0.0]
        self._xs = [x_m]
        self._ys = [y_m]

    @property
    def now_ms(self) -> float:
        """Return the time up to which the walk is known."""
        return self._times[-1]

    @property
    def x_m(self) -> float:
        """Return where the node is then."""
        return self._xs[-1]

    @property
    def y_m(self) -> float:
        """Return where the node is then."""
        return self._ys[-1]

    def wait(self, length_ms: float) -> None:
        """Stand still for so long."""
        self.reach(self.x_m, self.y_m, length_ms)

    def wait_until(self, at_ms: float) -> None:
        """Stand still until then, to the last bit; a time that is over already is no wait."""
        if at_ms > self.now_ms:
            self._times.append(at_ms)
            self._xs.append(self.x_m)
            self._ys.append(self.y_m)

    def walk_to(self, x_m: float, y_m: float, speed_m_per_ms: float) -> None:
        """Go straight to a point."""
        self.reach(x_m, y_m, hypot(x_m - self.x_m, y_m - self.y_m) / speed_m_per_ms)

    def reach(self, x_m: float, y_m: float, length_ms: float) -> None:
        """Be at a point after so long. What takes no time is no leg."""
        at_ms = self.now_ms + length_ms
        if at_ms > self.now_ms:
            self._times.append(at_ms)
            self._xs.append(x_m)
            self._ys.append(y_m)

    def legs(self, duration_ms: float) -> Legs:
        """Return the legs up to the end of the run, which the walk has reached."""
        return legs_through(np.array(self._times), np.array(self._xs), np.array(self._ys), duration_ms)
