"""From what a sensor says to the `Reading` that filters are fed: each value becomes one byte, once.

A missing or unreadable value leaves its attribute out of the reading, a value outside of the domain is
clipped, and both are counted.
"""

from collections.abc import Sequence

from emulation.sensors.source import Sample
from knowledge_manager.vocabulary import Attribute, EventClass
from watchdog.normalise import normal_byte, scale_decimal
from watchdog.reading import Reading


class Sampler:
    """Fills one `Reading` again and again with samples of one event class."""

    def __init__(self, event: EventClass, attributes: Sequence[str], feature_bytes: int) -> None:
        self.reading = Reading(feature_bytes)
        self.missing = 0
        self.clipped = 0
        self._event = event.index
        self._attributes = [event.attribute(name) for name in attributes]

    def fill(self, sample: Sample, number: int, at_ms: int) -> Reading:
        """Return the reading of this sample; it is the same object every time."""
        self.reading.clear(self._event, number, at_ms // 1000)
        for attribute in self._attributes:
            text = sample[attribute.name]
            value = None if text is None else self._byte(attribute, text)
            if value is None:
                self.missing += 1
            else:
                self.reading.set(attribute.index, value)
        return self.reading

    def _byte(self, attribute: Attribute, text: str) -> int | None:
        if attribute.type == "nominal":
            return attribute.values.index(text) if text in attribute.values else None
        scaled = scale_decimal(text, attribute.decimals)
        if scaled is None:
            return None
        if not attribute.lo_scaled <= scaled <= attribute.hi_scaled:
            self.clipped += 1
        return normal_byte(scaled, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)
