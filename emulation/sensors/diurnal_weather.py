"""Weather at a pole: warm in the afternoon, cold before dawn, and squalls that come and go.

Temperature follows the sun with its highest value at three in the afternoon. Humidity falls when it gets
warm, wind rises in the afternoon, pressure wanders over hours. A squall lasts twenty minutes to an hour: wind
of gale strength and more, heavy rain, a dip of the pressure. The values exercise the system; they are not a
climate model.

>>> import numpy as np
>>> pole = DiurnalWeather(np.random.default_rng(1), 86_400_000, 12.0, 6.0, 0.0, 1.0)
>>> sorted(pole.sample(0))
['humidity', 'pressure', 'rain', 'temperature', 'wind_speed']
"""

from math import cos, exp, pi, sqrt
from typing import Final

import numpy as np

from emulation.sensors.source import Sample

WEATHER: Final = ("temperature", "humidity", "pressure", "wind_speed", "rain")
"""The generated attributes, with the names and units of the `weather` vocabulary."""

_WARMEST_H: Final = 15.0
_CORRELATION_MS: Final = 3_600_000.0
"""The correlation time of the fluctuations."""


class DiurnalWeather:
    """One pole. The run begins at `begins_at_h` o'clock; `squalls_per_day` is an expectation."""

    def __init__(
        self,
        rng: np.random.Generator,
        duration_ms: int,
        mean_deg_c: float,
        swing_deg_c: float,
        begins_at_h: float,
        squalls_per_day: float,
    ) -> None:
        self._rng = rng
        self._mean, self._swing, self._begins_at_h = mean_deg_c, swing_deg_c, begins_at_h
        amount = int(rng.poisson(squalls_per_day * duration_ms / 86_400_000))
        begins = np.sort(rng.random(amount)) * duration_ms
        lengths = 1_200_000.0 + rng.random(amount) * 2_400_000.0
        strengths = 17.0 + rng.random(amount) * 10.0
        self._squalls = list(zip(begins.tolist(), lengths.tolist(), strengths.tolist(), strict=True))
        self._wander = rng.standard_normal(4)
        self._last_ms = 0

    def sample(self, at_ms: int) -> Sample | None:
        """Return the weather at this time, which is not before the last sample."""
        kept = exp(-(at_ms - self._last_ms) / _CORRELATION_MS)
        self._last_ms = at_ms
        self._wander = kept * self._wander + sqrt(1.0 - kept * kept) * self._rng.standard_normal(4)
        warm, damp, heavy, gusty = self._wander.tolist()
        sun = cos(2 * pi * (self._begins_at_h + at_ms / 3_600_000 - _WARMEST_H) / 24)
        force = self._force(at_ms)
        values = {
            "temperature": self._mean + self._swing * sun + 0.8 * warm - 4.0 * min(1.0, force / 17.0),
            "humidity": 62.0 - 18.0 * sun + 5.0 * damp + 25.0 * min(1.0, force / 17.0),
            "pressure": 1013.0 + 5.0 * heavy - 0.5 * force,
            "wind_speed": 3.0 + 1.5 * sun + 1.2 * gusty + force,
            "rain": 0.7 * force,
        }
        limits = {
            "temperature": (-40.0, 60.0),
            "humidity": (5.0, 100.0),
            "wind_speed": (0.0, 60.0),
            "rain": (0.0, 200.0),
        }
        reading: dict[str, str | None] = {}
        for name, value in values.items():
            least, most = limits.get(name, (-1e9, 1e9))
            reading[name] = f"{min(most, max(least, value)):.1f}"
        return reading

    def _force(self, at_ms: int) -> float:
        """Return the strongest squall of the moment, in m/s of wind; squalls grow and fade over their first
        and last fifth.
        """
        strongest = 0.0
        for begin, length, strength in self._squalls:
            share = (at_ms - begin) / length
            if 0.0 < share < 1.0:
                strongest = max(strongest, strength * min(1.0, 5 * share, 5 * (1 - share)))
        return strongest
