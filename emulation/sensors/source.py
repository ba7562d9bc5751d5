"""What a sensor is to the emulator: one question, asked at rising times.

Values are decimal texts in the mission table's units, as a board would read them from a file or a
converter; no float takes part after this point.
"""

from collections.abc import Mapping
from typing import Protocol

Sample = Mapping[str, str | None]
"""Attribute name → value; None where the sensor has none at the moment."""


class SensorSource(Protocol):
    """Measures the attributes of one event class at one node."""

    def sample(self, at_ms: int) -> Sample | None:
        """Return what the sensor reads now, or None when there is no reading to be had."""
        ...
