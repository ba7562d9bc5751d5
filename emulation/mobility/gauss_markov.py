"""Gauss–Markov: speed and direction change a little at every step, with memory.

At every step of `step_s`, speed and direction are drawn around their last values and their means; `memory` is
the weight of the last values, from 0 (a random walk) to 1 (straight on). Liang and Haas, "Predictive
distance-based mobility management for PCS networks" (INFOCOM 1999); the mean direction of a node that comes
near the border turns to the middle, as in Camp, Boleng and Davies, "A survey of mobility models for ad hoc
network research" (2002). A step that would still leave the area ends at the border.

>>> import numpy as np
>>> from emulation.mobility.model import Area
>>> model = GaussMarkov(speed_m_per_s=1.4, speed_deviation_m_per_s=0.3, memory=0.8, step_s=10.0)
>>> rng = np.random.default_rng(1)
>>> [walk] = model.walks(Area(300.0, 200.0), 600_000.0, [rng], rng)
>>> float(walk.end_ms[-1])
600000.0
"""

from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin, sqrt, tau
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from emulation.mobility.model import Area, EachAlone, Legs, MobilityModel, Path
from emulation.mobility.table import MobilityTable
from emulation.settings_base import NotNegative, Speed

_BORDER: Final = 0.1
"""The share of the area at each border in which a node turns to the middle."""
_TURN_DEVIATION: Final = pi / 6


@dataclass(frozen=True, slots=True)
class GaussMarkov(EachAlone):
    """Mean speed and its deviation, memory, and length of a step."""

    speed_m_per_s: float
    speed_deviation_m_per_s: float
    memory: float
    step_s: float

    def walk(self, area: Area, duration_ms: float, rng: np.random.Generator) -> Legs:
        """Return a winding walk."""
        path = Path(rng.random() * area.width_m, rng.random() * area.height_m)
        speed, direction = self.speed_m_per_s, tau * rng.random()
        mean_direction = direction
        kept, fresh = self.memory, 1.0 - self.memory
        noise = sqrt(1.0 - self.memory * self.memory)
        while path.now_ms < duration_ms:
            jolt = rng.standard_normal(2)
            mean_direction = _to_the_middle(path.x_m, path.y_m, area, mean_direction)
            speed = kept * speed + fresh * self.speed_m_per_s + noise * self.speed_deviation_m_per_s * jolt[0]
            speed = max(0.0, speed)
            # The shorter of both turns.
            turn = (mean_direction - direction + pi) % tau - pi
            direction += fresh * turn + noise * _TURN_DEVIATION * jolt[1]
            step_m = speed * self.step_s
            x = min(max(path.x_m + step_m * cos(direction), 0.0), area.width_m)
            y = min(max(path.y_m + step_m * sin(direction), 0.0), area.height_m)
            if hypot(x - path.x_m, y - path.y_m) > 0.0:
                path.reach(x, y, 1000.0 * self.step_s)
            else:
                path.wait(1000.0 * self.step_s)
        return path.legs(duration_ms)


def _to_the_middle(x: float, y: float, area: Area, direction: float) -> float:
    near_x = not _BORDER * area.width_m < x < (1 - _BORDER) * area.width_m
    near_y = not _BORDER * area.height_m < y < (1 - _BORDER) * area.height_m
    if near_x or near_y:
        return atan2(area.height_m / 2 - y, area.width_m / 2 - x)
    return direction


class GaussMarkovTable(MobilityTable):
    """Wind along: speed and direction remember what they were."""

    model: Literal["gauss_markov"]
    speed_m_per_s: Speed
    speed_deviation_m_per_s: NotNegative = 0.0
    memory: Annotated[float, Field(ge=0, le=1)] = 0.75
    step_s: Annotated[float, Field(ge=0.1)] = 10.0

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return GaussMarkov(self.speed_m_per_s, self.speed_deviation_m_per_s, self.memory, self.step_s)

    def turns(self, width_m: float, height_m: float, duration_s: float) -> float:
        """Return about how often a node turns: at every step."""
        return duration_s / self.step_s
