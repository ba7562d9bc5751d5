"""A source: a file that another program rewrites with its latest values, as {"temperature": 21.5}."""

import json
from pathlib import Path

from dens.node.sources.kinds import SourceKind, SourceOrder
from plugins.readings import ExactReading
from plugins.value_texts import corners_of, fault_of


class LatestValues:
    """Reads the file at every request; it never ends."""

    is_over = False

    def __init__(self, order: SourceOrder) -> None:
        """Do nothing yet: no subscription needs it."""
        self.attributes = [attribute.name for attribute in order.event.attributes]
        self._path = Path(order.place)
        self._event = order.event
        self._counters = order.counters
        self._number = 0

    def start(self) -> None:
        """Start; without the file this raises, and the install is refused as `source_failed`."""
        self._path.stat()

    def read_into(self, reading: ExactReading, stamp_s: int) -> bool:
        """Fill the reading. A half-written file raises, which is reported and ends nothing."""
        values = json.loads(self._path.read_text("utf-8"))
        reading.clear(self._event.index, self._number, stamp_s)
        for attribute in self._event.attributes:
            text = str(values.get(attribute.name, ""))
            corners = corners_of(text, attribute)
            if corners is None or fault_of(text, attribute) is not None:
                self._counters["missing"] += 1
            else:
                reading.measure(attribute, corners)
        self._number += 1
        return True

    def stop(self) -> None:
        """Rest: there is nothing to release."""


LATEST_VALUES = SourceKind(
    name="latest_values",
    protocol="file",
    content_type="application/json",
    about="a file that another program rewrites",
    make=LatestValues,
)
