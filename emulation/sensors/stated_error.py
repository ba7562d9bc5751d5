"""The error that a sensor states: what is told of a value, and where the true value may lie.

A source says what a sensor shows. With a stated error that is told as all that it may mean, and the true
value is drawn among it: uniformly where all of an interval is alike, triangularly where the value that is
shown is the most likely. Whoever knows nothing of errors sees the value that is shown, which is the middle.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.readings import Corners

ErrorForm = Literal["interval", "triangular"]


@dataclass(frozen=True, slots=True)
class StatedError:
    """How far the truth may be from what is shown, in the attribute's scaled integers."""

    form: ErrorForm
    reach: int

    def told(self, shown: Corners, attribute: Attribute) -> Corners:
        """Return what is told of a value that is shown. The truth lies in the domain, unless what is shown
        does not.
        """
        low, core_low, core_high, high = shown
        least, most = min(attribute.lo_scaled, low), max(attribute.hi_scaled, high)
        low, high = max(low - self.reach, least), min(high + self.reach, most)
        if self.form == "triangular":
            return low, core_low, core_high, high
        return low, max(core_low - self.reach, least), min(core_high + self.reach, most), high

    def true_value(self, told: Corners, chance: np.random.Generator) -> int:
        """Draw the true value of what is told."""
        low, core_low, core_high, high = told
        if self.form == "interval" or low == high:
            return int(chance.integers(low, high + 1))
        return round(float(chance.triangular(low, (core_low + core_high) / 2, high)))
