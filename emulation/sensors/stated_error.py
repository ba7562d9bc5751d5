"""The stated error of a sensor: the interval of a measured value, and where the true value lies.

A source gives the value that the sensor shows. With a stated error, the reading has the interval of all
possible values, and the true value is drawn from it: uniformly for an interval, or triangularly around the
shown value. Languages without errors use the shown value, the middle of the interval.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.readings import Corners

ErrorForm = Literal["interval", "triangular"]


@dataclass(frozen=True, slots=True)
class StatedError:
    """The largest distance of the true value from the shown one, in the attribute's scaled integers."""

    form: ErrorForm
    reach: int

    def widened(self, shown: Corners, attribute: Attribute) -> Corners:
        """Return the interval of a shown value. It lies in the domain, unless the shown value does not."""
        low, core_low, core_high, high = shown
        least, most = min(attribute.lo_scaled, low), max(attribute.hi_scaled, high)
        low, high = max(low - self.reach, least), min(high + self.reach, most)
        if self.form == "triangular":
            return low, core_low, core_high, high
        return low, max(core_low - self.reach, least), min(core_high + self.reach, most), high

    def true_value(self, measured: Corners, rng: np.random.Generator) -> int:
        """Draw the true value from the interval of a measured one."""
        low, core_low, core_high, high = measured
        if self.form == "interval" or low == high:
            return int(rng.integers(low, high + 1))
        return round(float(rng.triangular(low, (core_low + core_high) / 2, high)))
