"""From what a sensor says to the `ExactReading` that filters are fed: each value is read once.

A missing or unreadable value leaves its attribute out of the reading, a value outside of the domain is
clipped to it for languages of bytes, and both are counted. Where the sensor states an error, what is told
is all that it may mean, and the true value is drawn among it.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from emulation.sensors.source import Sample
from emulation.sensors.stated_error import StatedError
from knowledge_manager.vocabulary.vocabulary import EventClass
from plugins.readings import ExactReading, point
from plugins.value_texts import corners_of, is_within


class Sampler:
    """Fills one reading again and again with samples of one event class."""

    def __init__(
        self,
        event: EventClass,
        attributes: Sequence[str],
        feature_bytes: int,
        errors: Mapping[str, StatedError] | None = None,
        chance: np.random.Generator | None = None,
    ) -> None:
        """What errs, by its attribute, needs chance: the truth lies somewhere within the error."""
        self.reading = ExactReading(feature_bytes)
        self.true_reading = ExactReading(feature_bytes) if errors else None
        """The latest reading as it would be without errors, where there are any."""
        self._errors = errors or {}
        self._chance = chance
        self.missing = 0
        self.clipped = 0
        self._event = event.index
        self._attributes = [event.attribute(name) for name in attributes]

    def fill(self, sample: Sample, number: int, at_ms: int) -> ExactReading:
        """Return the reading of this sample; it is the same object every time."""
        self.reading.clear(self._event, number, at_ms // 1000)
        if self.true_reading is not None:
            self.true_reading.clear(self._event, number, at_ms // 1000)
        for attribute in self._attributes:
            text = sample[attribute.name]
            corners = None if text is None else corners_of(text, attribute)
            if corners is None:
                self.missing += 1
                continue
            self.clipped += not is_within(corners, attribute)
            error = self._errors.get(attribute.name)
            told = corners if error is None else error.told(corners, attribute)
            self.reading.measure(attribute, told)
            if self.true_reading is not None:
                assert self._chance is not None, "errors are given with chance"
                true = told if error is None else point(error.true_value(told, self._chance))
                self.true_reading.measure(attribute, true)
        return self.reading
