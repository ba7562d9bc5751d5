"""Values of any event class, each drawn uniformly from its attribute's domain or list of values.

It is for scenarios in which only the traffic matters: publications on any topic, or a load for matchers.

>>> import numpy as np
>>> from knowledge_manager.mission_table import load_mission_table
>>> event = load_mission_table(["medical"]).event("patient")
>>> sorted(Uniform(np.random.default_rng(1), event.attributes[:3]).sample(0))
['heart_rate', 'patient_temperature', 'ward']
"""

from collections.abc import Sequence

import numpy as np

from emulation.sensors.source import Sample
from knowledge_manager.vocabulary.event_class import Attribute


class Uniform:
    """One source of uniform values."""

    def __init__(self, rng: np.random.Generator, attributes: Sequence[Attribute]) -> None:
        self._rng = rng
        self._attributes = attributes

    def sample(self, at_ms: int) -> Sample | None:
        """Return a value for every attribute."""
        return {attribute.name: self._draw(attribute) for attribute in self._attributes}

    def _draw(self, attribute: Attribute) -> str:
        if attribute.type == "nominal":
            return attribute.values[int(self._rng.integers(len(attribute.values)))]
        scaled = int(self._rng.integers(attribute.lo_scaled, attribute.hi_scaled + 1))
        return f"{scaled / 10**attribute.decimals:.{attribute.decimals}f}"
