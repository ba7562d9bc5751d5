"""Names and values of bytes in vectors, for all languages whose values are bytes."""

import datetime
import math
from dataclasses import dataclass

from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring.constants import shown_unit
from plugins.byte_readings import middle, step_at
from watchdog.lifetime import lifetime_s

_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of event classes and attributes; their numbers without a mission table."""

    table: MissionTable | None
    feature_bytes: int

    def event_class(self, index: int) -> EventClass | None:
        """Return the event class, or None if it is unknown."""
        return None if self.table is None else self.table.event_at(index)

    def event(self, index: int) -> str:
        known = self.event_class(index)
        return known.name if known is not None else f"event {index}"

    def attribute_of(self, event: int, index: int) -> Attribute | None:
        """Return the attribute; None for the age, and if it is unknown."""
        known = self.event_class(event)
        return None if known is None or self.is_age(index) else known.attribute_at(index)

    def attribute(self, event: int, index: int) -> str:
        if self.is_age(index):
            return "age of the event"
        known = self.attribute_of(event, index)
        return known.name if known is not None else f"attribute {index}"

    def is_age(self, index: int) -> bool:
        """Return whether this index is the event's age."""
        return index == 8 * self.feature_bytes - 1


def value_words(byte: int, attribute: Attribute | None, *, age: bool = False) -> str:
    """Return the value in the middle of a byte's readings, with its unit, at the precision of a byte."""
    if age:
        return written_duration(lifetime_s(byte))
    if attribute is None:
        return str(byte)
    if attribute.type == "nominal":
        return attribute.values[byte] if byte < len(attribute.values) else f"value {byte}"
    amount = float(middle(byte, attribute))
    if attribute.type == "time":
        return f"{int(amount) // 3600:02d}:{int(amount) // 60 % 60:02d}"
    if attribute.type == "date":
        return (_EPOCH + datetime.timedelta(days=round(amount))).isoformat()
    step = float(step_at(round(middle(byte, attribute) * 10**attribute.decimals), attribute))
    digits = min(attribute.decimals, max(0, 2 - math.floor(math.log10(step))))
    return f"{amount:.{digits}f} {shown_unit(attribute)}".strip()
