"""Signs of fire at one place: mostly none, and flare-ups that grow, burn and fade.

Between flare-ups a sensor reads the air of the day and next to no carbon monoxide. A flare-up lasts half an
hour to an hour and a half; at its height the air has 150 to 600 degC, carbon monoxide lies between the
ceiling of NIOSH (200 ppm) and beyond the concentration that it calls immediately dangerous (1200 ppm), and
smoke is thick. The values exercise the system; they are not a model of combustion.

>>> import numpy as np
>>> place = FireSigns(np.random.default_rng(1), 86_400_000, flare_ups_per_day=0.0)
>>> sorted(place.sample(0)), place.sample(60_000)["smoke"]
(['air_temperature', 'carbon_monoxide', 'smoke'], 'none')
"""

from typing import Final

import numpy as np

from emulation.sensors.source import Sample

FIRE: Final = ("air_temperature", "carbon_monoxide", "smoke")
"""The generated attributes, with the names and units of the `fire` vocabulary."""
_THIN: Final = 0.15
_THICK: Final = 0.5
"""Strengths of a fire, as shares of its maximum, from which smoke is thin and thick."""


class FireSigns:
    """One place. `flare_ups_per_day` is an expectation."""

    def __init__(self, rng: np.random.Generator, duration_ms: int, flare_ups_per_day: float) -> None:
        self._rng = rng
        amount = int(rng.poisson(flare_ups_per_day * duration_ms / 86_400_000))
        begins = np.sort(rng.random(amount)) * duration_ms
        lengths = 1_800_000.0 + rng.random(amount) * 3_600_000.0
        heats, gases = 150.0 + rng.random(amount) * 450.0, 400.0 + rng.random(amount) * 1200.0
        columns = (begins, lengths, heats, gases)
        self._flare_ups = list(zip(*(column.tolist() for column in columns), strict=True))

    def sample(self, at_ms: int) -> Sample | None:
        """Return the signs at this time."""
        heat, gas, strength = 0.0, 0.0, 0.0
        for begin, length, hottest, densest in self._flare_ups:
            share = (at_ms - begin) / length
            if 0.0 < share < 1.0:
                force = min(1.0, 4 * share, 2 * (1 - share))
                strength = max(strength, force)
                heat, gas = max(heat, force * hottest), max(gas, force * densest)
        jitter = self._rng.standard_normal(2)
        smoke = "thick" if strength > _THICK else "thin" if strength > _THIN else "none"
        return {
            "air_temperature": f"{15.0 + heat + 2.0 * jitter[0]:.1f}",
            "carbon_monoxide": f"{max(0.0, 3.0 + gas * (1.0 + 0.05 * jitter[1])):.0f}",
            "smoke": smoke,
        }
