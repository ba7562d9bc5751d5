"""Converts samples of a sensor to the `ExactReading` that filters use.

A missing or unreadable value leaves its attribute out of the reading; a value outside the domain is clipped
to it for languages of bytes. Both are counted. If the sensor has a stated error, the reading has the whole
interval of possible values, and the true value is drawn from it.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from emulation.sensors.source import Sample
from emulation.sensors.stated_error import StatedError
from knowledge_manager.vocabulary.vocabulary import EventClass
from plugins.readings import ExactReading, point
from plugins.value_texts import corners_of, is_within


class Sampler:
    """Fills a reading with samples of one event class."""

    def __init__(
        self,
        event: EventClass,
        attributes: Sequence[str],
        feature_bytes: int,
        errors: Mapping[str, StatedError] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Take the stated errors by attribute, and the generator that draws true values, if there are
        errors.
        """
        self.reading = ExactReading(feature_bytes)
        self.true_reading = ExactReading(feature_bytes) if errors else None
        """The latest reading without errors; None if the sensor has none."""
        self._errors = errors or {}
        self._rng = rng
        self.missing = 0
        self.clipped = 0
        self._event = event.index
        self._attributes = [event.attribute(name) for name in attributes]

    def fill(self, sample: Sample, number: int, at_ms: int) -> ExactReading:
        """Return the reading of a sample; it is the same object every time."""
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
            measured = corners if error is None else error.widened(corners, attribute)
            self.reading.measure(attribute, measured)
            if self.true_reading is not None:
                assert self._rng is not None, "errors need a random generator"
                true = measured if error is None else point(error.true_value(measured, self._rng))
                self.true_reading.measure(attribute, true)
        return self.reading
