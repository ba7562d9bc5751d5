"""From what a sensor says to the `ExactReading` that filters are fed: each value is read once.

A missing or unreadable value leaves its attribute out of the reading, a value outside of the domain is
clipped to it for languages of bytes, and both are counted.
"""

from collections.abc import Sequence

from emulation.sensors.source import Sample
from knowledge_manager.vocabulary import EventClass
from plugins.readings import ExactReading
from plugins.value_texts import corners_of, is_within


class Sampler:
    """Fills one reading again and again with samples of one event class."""

    def __init__(self, event: EventClass, attributes: Sequence[str], feature_bytes: int) -> None:
        self.reading = ExactReading(feature_bytes)
        self.missing = 0
        self.clipped = 0
        self._event = event.index
        self._attributes = [event.attribute(name) for name in attributes]

    def fill(self, sample: Sample, number: int, at_ms: int) -> ExactReading:
        """Return the reading of this sample; it is the same object every time."""
        self.reading.clear(self._event, number, at_ms // 1000)
        for attribute in self._attributes:
            text = sample[attribute.name]
            corners = None if text is None else corners_of(text, attribute)
            if corners is None:
                self.missing += 1
                continue
            self.clipped += not is_within(corners, attribute)
            self.reading.measure(attribute, corners)
        return self.reading
