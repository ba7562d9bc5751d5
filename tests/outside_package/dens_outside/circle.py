"""Circle: every node goes round and round, at a place and with a speed that chance gives it."""

from math import cos, sin, tau
from typing import Literal

from numpy.random import Generator

from emulation.mobility.model import Area, EachAlone, Legs, Path
from emulation.mobility.table import MobilityTable, SpeedRange
from emulation.settings_base import Metres

CORNERS = 24
"""Legs are straight, so a circle has corners."""


class Circle(EachAlone):
    """Circles of one radius."""

    def __init__(self, radius_m: float, speed_m_per_s: tuple[float, float]) -> None:
        self._radius_m = radius_m
        self._speed_m_per_s = speed_m_per_s

    def walk(self, area: Area, duration_ms: float, chance: Generator) -> Legs:
        """Return one node's rounds."""
        radius = min(self._radius_m, area.width_m / 2, area.height_m / 2)
        x = radius + chance.random() * (area.width_m - 2 * radius)
        y = radius + chance.random() * (area.height_m - 2 * radius)
        speed_m_per_ms = chance.uniform(*self._speed_m_per_s) / 1000
        path, corner = Path(x + radius, y), 0
        while path.now_ms < duration_ms:
            corner += 1
            angle = tau * corner / CORNERS
            path.walk_to(x + radius * cos(angle), y + radius * sin(angle), speed_m_per_ms)
        return path.legs(duration_ms)


class CircleTable(MobilityTable):
    """What a scenario says of it."""

    model: Literal["circle"]
    radius_m: Metres
    speed_m_per_s: SpeedRange = (1.0, 2.0)

    def mobility(self) -> Circle:
        """Return the model with these settings."""
        return Circle(self.radius_m, self.speed_m_per_s)

    def turns(self, width_m: float, height_m: float, duration_s: float) -> float:
        """Return how often a node turns, so that a run that would fill the memory is refused."""
        return CORNERS * duration_s * self.speed_m_per_s[1] / (tau * self.radius_m)
