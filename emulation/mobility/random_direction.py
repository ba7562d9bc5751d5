"""Random direction: choose a direction, walk to the border of the area, wait there, and again.

In contrast to random waypoint, nodes do not gather in the middle. Royer, Melliar-Smith and Moser, "An
analysis of the optimum node density for ad hoc mobile networks" (ICC 2001), proposed it for that reason.
A node starts anywhere and first waits. A direction that leads out of the area at once, from the border,
is drawn again.

>>> import numpy as np
>>> from emulation.mobility.model import Area
>>> model = RandomDirection(speed_m_per_s=(1.0, 2.0), pause_s=(5.0, 10.0))
>>> rng = np.random.default_rng(1)
>>> [walk] = model.walks(Area(300.0, 200.0), 600_000.0, [rng], rng)
>>> float(walk.end_ms[-1])
600000.0
"""

from dataclasses import dataclass
from math import cos, hypot, sin, tau
from typing import Literal

import numpy as np

from emulation.mobility.model import Area, EachAlone, Legs, MobilityModel, Path
from emulation.mobility.table import MobilityTable, PauseRange, SpeedRange


@dataclass(frozen=True, slots=True)
class RandomDirection(EachAlone):
    """Uniform directions, uniform speeds above 0, uniform pauses at the border."""

    speed_m_per_s: tuple[float, float]
    pause_s: tuple[float, float]

    def walk(self, area: Area, duration_ms: float, rng: np.random.Generator) -> Legs:
        """Return a walk from border to border."""
        path = Path(rng.random() * area.width_m, rng.random() * area.height_m)
        while path.now_ms < duration_ms:
            pause, speed = rng.random(2)
            short, long = self.pause_s
            slow, fast = self.speed_m_per_s
            path.wait(1000.0 * (short + (long - short) * pause))
            x, y = _border_point(path.x_m, path.y_m, area, rng)
            path.walk_to(x, y, (slow + (fast - slow) * speed) / 1000.0)
        return path.legs(duration_ms)


def _border_point(x: float, y: float, area: Area, rng: np.random.Generator) -> tuple[float, float]:
    """Return where a random direction meets the border; one that meets it here is drawn again."""
    least = 1e-9 * (area.width_m + area.height_m)
    while True:
        angle = tau * rng.random()
        dx, dy = cos(angle), sin(angle)
        reach_x = ((area.width_m if dx > 0 else 0.0) - x) / dx if dx else float("inf")
        reach_y = ((area.height_m if dy > 0 else 0.0) - y) / dy if dy else float("inf")
        reach = min(reach_x, reach_y)
        to_x = min(max(x + reach * dx, 0.0), area.width_m)
        to_y = min(max(y + reach * dy, 0.0), area.height_m)
        if hypot(to_x - x, to_y - y) > least:
            return to_x, to_y


class RandomDirectionTable(MobilityTable):
    """Walk straight to the border, wait, choose another direction."""

    model: Literal["random_direction"]
    speed_m_per_s: SpeedRange
    pause_s: PauseRange = (0.0, 0.0)

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return RandomDirection(self.speed_m_per_s, self.pause_s)

    def turns(self, width_m: float, height_m: float, duration_s: float) -> float:
        """Estimate the number of turns: a leg is half of the shorter side, walked at the highest speed."""
        way_m = min(width_m, height_m) / 2
        return duration_s / (way_m / self.speed_m_per_s[1] + sum(self.pause_s) / 2)
