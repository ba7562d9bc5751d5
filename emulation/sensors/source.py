"""The interface of a sensor source, sampled at increasing times.

Values are decimal texts in the units of the mission table, as a board would read them from a file or a
converter; no floats are used after this point.
"""

from collections.abc import Mapping
from typing import Protocol

Sample = Mapping[str, str | None]
"""Attribute name → value; None if the sensor has no value at the moment."""


class SensorSource(Protocol):
    """Measures the attributes of one event class at one node."""

    def sample(self, at_ms: int) -> Sample | None:
        """Return the sample at this time, or None after the last one."""
        ...
