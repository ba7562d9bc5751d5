"""Vital signs of patients, some of whom deteriorate.

A patient has individual values around the normal ones, and fluctuates slowly around them. A patient who
deteriorates does so from a moment within the first half of the run and over half an hour to an hour and a
half, until the values lie where the early-warning score NEWS2 (Royal College of Physicians, 2017) gives its
highest scores: temperature from 39.1 degC, heart rate from 131, oxygen up to 91 %, respiration from 25. The
values exercise the system; they are not medical data.

>>> import numpy as np
>>> patient = VitalSigns(np.random.default_rng(1), duration_ms=7_200_000, deteriorating=0.0)
>>> sorted(patient.sample(0))
['heart_rate', 'oxygen_saturation', 'patient_temperature', 'respiration_rate', 'systolic_pressure']
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import Final

import numpy as np

from emulation.sensors.source import Sample

_CORRELATION_MS: Final = 600_000.0
"""The correlation time of a patient's fluctuations."""


@dataclass(frozen=True, slots=True)
class _Sign:
    """One vital sign: normal value, deviation between and within patients, effect of illness, hard limits."""

    usual: float
    between_patients: float
    within_patient: float
    illness: tuple[float, float]
    least: float
    most: float
    decimals: int


SIGNS: Final = {
    "patient_temperature": _Sign(36.8, 0.25, 0.12, (2.3, 3.2), 33.0, 42.5, 2),
    "heart_rate": _Sign(76.0, 8.0, 4.0, (48.0, 70.0), 35.0, 200.0, 0),
    "oxygen_saturation": _Sign(97.2, 0.7, 0.6, (-12.0, -6.5), 60.0, 100.0, 0),
    "respiration_rate": _Sign(15.0, 1.5, 1.2, (9.0, 16.0), 4.0, 50.0, 0),
    "systolic_pressure": _Sign(122.0, 9.0, 5.0, (-42.0, -25.0), 50.0, 220.0, 0),
}
"""The generated attributes, with the names and units of the `medical` vocabulary."""


class VitalSigns:
    """One patient. `deteriorating` is the probability that this one does."""

    def __init__(self, rng: np.random.Generator, duration_ms: int, deteriorating: float) -> None:
        fate = rng.random(3)
        self._rng = rng
        self._onset_ms = fate[1] * 0.5 * duration_ms if fate[0] < deteriorating else float("inf")
        self._ramp_ms = 1_800_000.0 + fate[2] * 3_600_000.0
        own, depth = rng.standard_normal(len(SIGNS)), rng.random(len(SIGNS))
        self._centre = [sign.usual + sign.between_patients * own[i] for i, sign in enumerate(SIGNS.values())]
        self._illness = [
            sign.illness[0] + (sign.illness[1] - sign.illness[0]) * depth[i]
            for i, sign in enumerate(SIGNS.values())
        ]
        self._wander = rng.standard_normal(len(SIGNS))
        self._last_ms = 0

    def sample(self, at_ms: int) -> Sample | None:
        """Return the signs at this time, which is not before the last sample."""
        kept = exp(-(at_ms - self._last_ms) / _CORRELATION_MS)
        self._last_ms = at_ms
        fresh = self._rng.standard_normal(len(SIGNS))
        self._wander = kept * self._wander + sqrt(1.0 - kept * kept) * fresh
        severity = min(1.0, max(0.0, (at_ms - self._onset_ms) / self._ramp_ms))
        reading: dict[str, str | None] = {}
        for i, (name, sign) in enumerate(SIGNS.items()):
            value = self._centre[i] + sign.within_patient * self._wander[i] + severity * self._illness[i]
            reading[name] = f"{min(sign.most, max(sign.least, value)):.{sign.decimals}f}"
        return reading
