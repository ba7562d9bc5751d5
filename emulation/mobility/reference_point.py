"""Reference-point groups: a group moves together, and each node wanders a little around it.

An invisible reference point walks by random waypoint for the whole group; each node keeps within `spread_m`
of it, at an offset of its own that changes every `wander_s`. Hong, Gerla, Pei and Chiang, "A group mobility
model for ad hoc wireless networks" (MSWiM 1999). The reference point keeps `spread_m` away from the border,
so that no node leaves the area.

>>> import numpy as np
>>> from emulation.mobility.model import Area
>>> model = ReferencePoint((1.0, 2.0), (0.0, 60.0), spread_m=20.0, wander_s=30.0)
>>> streams = [np.random.default_rng(seed) for seed in range(3)]
>>> [len(walk) > 0 for walk in model.walks(Area(300.0, 200.0), 600_000.0, streams, np.random.default_rng(9))]
[True, True, True]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, tau
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from emulation.mobility.model import Area, Floats, Legs, MobilityModel, legs_through
from emulation.mobility.random_waypoint import RandomWaypoint, RandomWaypointTable
from emulation.mobility.table import MobilityTable, PauseRange, SpeedRange
from emulation.settings_base import Metres


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """Speed and pauses of the group, its radius, and how often members change their offset."""

    speed_m_per_s: tuple[float, float]
    pause_s: tuple[float, float]
    spread_m: float
    wander_s: float

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        """Return the walks of the group."""
        inner = Area(area.width_m - 2 * self.spread_m, area.height_m - 2 * self.spread_m)
        leader = RandomWaypoint(self.speed_m_per_s, self.pause_s)
        [reference] = leader.walks(inner, duration_ms, [together], together)
        return [self._member(reference, duration_ms, rng) for rng in own]

    def _member(self, reference: Legs, duration_ms: float, rng: np.random.Generator) -> Legs:
        wander_ms = 1000.0 * self.wander_s
        count = ceil(duration_ms / wander_ms) + 1
        drawn = rng.random((count, 2))
        distance, angle = self.spread_m * np.sqrt(drawn[:, 0]), tau * drawn[:, 1]
        turns = np.arange(count) * wander_ms
        marks = np.append(reference.begin_ms, reference.end_ms[-1])
        times = np.unique(np.concatenate([marks, turns[turns < duration_ms]]))
        x = self._along(times, marks, reference.x0_m, reference.x1_m)
        y = self._along(times, marks, reference.y0_m, reference.y1_m)
        x += self.spread_m + np.interp(times, turns, distance * np.cos(angle))
        y += self.spread_m + np.interp(times, turns, distance * np.sin(angle))
        return legs_through(times, x, y, duration_ms)

    @staticmethod
    def _along(times: Floats, marks: Floats, begins: Floats, ends: Floats) -> Floats:
        found: Floats = np.interp(times, marks, np.append(begins, ends[-1]))
        return found


class ReferencePointTable(MobilityTable):
    """Go together: the whole group follows one random waypoint walk, each within `spread_m` of it."""

    model: Literal["reference_point"]
    speed_m_per_s: SpeedRange
    pause_s: PauseRange = (0.0, 0.0)
    spread_m: Metres
    wander_s: Annotated[float, Field(ge=1)] = 60.0

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return ReferencePoint(self.speed_m_per_s, self.pause_s, self.spread_m, self.wander_s)

    def turns(self, width_m: float, height_m: float, duration_s: float) -> float:
        """Estimate the number of turns: that of the reference point."""
        leader = RandomWaypointTable(
            model="random_waypoint", speed_m_per_s=self.speed_m_per_s, pause_s=self.pause_s
        )
        return leader.turns(width_m, height_m, duration_s)
