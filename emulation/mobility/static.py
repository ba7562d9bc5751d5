"""Static: nodes that stand still, at given places (such as poles) or at random ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from emulation.mobility.model import Area, Legs, MobilityModel, legs_through
from emulation.mobility.table import MobilityTable
from emulation.settings_base import NotNegative


@dataclass(frozen=True, slots=True)
class Static:
    """Stand still for the whole run.

    `places_m` gives one (x, y) for each node of the group; without it every place is drawn uniformly.
    """

    places_m: tuple[tuple[float, float], ...] | None = None

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        """Return one long leg for each node."""
        times = np.array([0.0, duration_ms])
        walks = []
        for position, rng in enumerate(own):
            if self.places_m is None:
                x, y = rng.random() * area.width_m, rng.random() * area.height_m
            else:
                x, y = self.places_m[position]
            walks.append(legs_through(times, np.full(2, x), np.full(2, y), duration_ms))
        return walks


class StaticTable(MobilityTable):
    """Stand still: at the given places, one for each node of the group, or at places drawn at random."""

    model: Literal["static"]
    places_m: tuple[tuple[NotNegative, NotNegative], ...] | None = None

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return Static(self.places_m)
