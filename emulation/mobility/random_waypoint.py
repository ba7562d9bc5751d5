"""Random waypoint: wait, choose a point, walk there, and again.

The variant is that of The ONE, so that figures can be compared: the start is uniform in the area, the
node *first waits* and then walks, waits are uniform in `pause_s`, every leg has its own speed, uniform in
`speed_m_per_s`, and destinations are uniform in the area. Each move takes four draws of the node's own
generator, whatever the settings are, so changing a speed changes no destination.

>>> import numpy as np
>>> from emulation.mobility.model import Area
>>> model = RandomWaypoint(speed_m_per_s=(0.5, 1.5), pause_s=(0.0, 120.0))
>>> rng = np.random.default_rng(1)
>>> [walk] = model.walks(Area(1000.0, 800.0), 3_600_000.0, [rng], rng)
>>> float(walk.end_ms[-1])
3600000.0
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from emulation.mobility.model import Area, EachAlone, Legs, MobilityModel, legs_through
from emulation.mobility.table import MobilityTable, PauseRange, SpeedRange


@dataclass(frozen=True, slots=True)
class RandomWaypoint(EachAlone):
    """Uniform destinations, uniform speeds above 0, uniform pauses."""

    speed_m_per_s: tuple[float, float]
    pause_s: tuple[float, float]

    def walk(self, area: Area, duration_ms: float, rng: np.random.Generator) -> Legs:
        """Return a walk of waits and moves."""
        moves = self._likely_moves(area, duration_ms)
        start = rng.random(2)
        drawn = np.empty((0, 4))
        while True:
            drawn = np.concatenate([drawn, rng.random((moves, 4))])
            x = np.concatenate([start[:1], drawn[:, 2]]) * area.width_m
            y = np.concatenate([start[1:], drawn[:, 3]]) * area.height_m
            slow, fast = self.speed_m_per_s
            short, long = self.pause_s
            pause_ms = 1000.0 * (short + (long - short) * drawn[:, 0])
            speed_m_per_ms = (slow + (fast - slow) * drawn[:, 1]) / 1000.0
            move_ms = np.hypot(np.diff(x), np.diff(y)) / speed_m_per_ms
            # Points: start, end of first pause, first destination, end of second pause, …
            steps = np.column_stack([pause_ms, move_ms]).ravel()
            times = np.concatenate([[0.0], np.cumsum(steps)])
            if times[-1] >= duration_ms:
                break
        xs, ys = np.repeat(x, 2)[:-1], np.repeat(y, 2)[:-1]
        lasting = np.concatenate([[True], np.diff(times) > 0.0])
        return legs_through(times[lasting], xs[lasting], ys[lasting], duration_ms)

    def _likely_moves(self, area: Area, duration_ms: float) -> int:
        """Estimate how many moves the run needs; they are drawn at once."""
        mean_distance_m = 0.5 * max(area.width_m, area.height_m)
        mean_ms = 1000.0 * (sum(self.pause_s) / 2 + mean_distance_m / max(self.speed_m_per_s))
        return 4 + int(1.2 * duration_ms / mean_ms)


class RandomWaypointTable(MobilityTable):
    """Wait, choose a point, walk there, and again."""

    model: Literal["random_waypoint"]
    speed_m_per_s: SpeedRange
    pause_s: PauseRange = (0.0, 0.0)

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return RandomWaypoint(self.speed_m_per_s, self.pause_s)

    def turns(self, width_m: float, height_m: float, duration_s: float) -> float:
        """Estimate the number of turns: a leg is a third of the longer side, walked at the highest speed."""
        way_m = max(width_m, height_m) / 3
        return duration_s / (way_m / self.speed_m_per_s[1] + sum(self.pause_s) / 2)
