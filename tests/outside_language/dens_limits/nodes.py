"""What a DENS node and a source do with limits: look up, filter, match, take apart."""

from collections.abc import Callable, Iterator, Sequence

from dens_limits.cells import bytes_of_cells, cell_of, cells_of_byte
from dens_limits.judging import judge
from dens_limits.vectors import Body, Told, decode_body, decode_notification, encode_notification

from knowledge_manager.dictionary.extract import Extract, mask_of
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.board_parts import crisp_part, values_of_board
from plugins.language import Match, Part, Release, SubscriptionKey
from plugins.readings import ExactReading
from watchdog.reading import Reading
from watchdog.vector import VectorError

LIMITS_ID = 40
NAMESPACE = "urn:example:limits:1"
SERIAL = 7
"""The protocol of sources without limits support."""


def checked(body: bytes, table: MissionTable) -> Body:
    """Return a body whose event class and attributes there are, or raise `VectorError`."""
    parts = decode_body(body)
    known = attributes_of(parts.event, table)
    for limit in parts.limits:
        if limit.attribute not in known:
            raise VectorError(3, f"attribute {limit.attribute} is unknown, or no number")
    return parts


def attributes_of(event: int, table: MissionTable) -> dict[int, Attribute]:
    """Return the numeric attributes of an event class by their indexes."""
    for known in table.events:
        if known.index == event:
            return {one.index: one for one in known.attributes if one.type != "nominal"}
    raise VectorError(1, f"event class {event} is unknown")


class Serves:
    """Asks for a source that fills what is limited and that is not on a serial line."""

    alternatives = None

    def __init__(self, body: Body) -> None:
        masks = [mask_of([limit.attribute]) for limit in body.limits]
        self._event = body.event
        self._masks = masks if body.mode == "any" else [sum(masks)]

    def serves(self, extract: Extract) -> bool:
        """Return whether a publisher that offers this can serve the subscription."""
        return any(
            source.event == self._event and source.protocol != SERIAL and source.fills(mask)
            for source in extract.sources
            for mask in self._masks
        )


class LimitsLookUp:
    """Questions to publishers."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def question(self, body: bytes) -> Serves:
        """Return what a subscription asks."""
        return Serves(checked(body, self._table))


class LimitsFilter:
    """Releases readings that match a subscription, with all attributes that any subscription limits."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._bodies: dict[SubscriptionKey, Body] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Start to look for it."""
        self._bodies[key] = checked(body, self._table)

    def remove(self, key: SubscriptionKey) -> None:
        """Stop looking for it."""
        self._bodies.pop(key, None)

    def offer(self, document: bytes) -> list[Release]:
        """Return a document as it stands where at least one subscription is satisfied."""
        told = decode_notification(document)
        degrees = [found[0] for body in self._bodies.values() if (found := judge(body, told)) is not None]
        return [Release(document, max(degrees))] if degrees else []

    def feed(self, reading: Reading) -> list[Release]:
        """Return one notification where at least one subscription is satisfied."""
        if not self._bodies:
            return []
        cells = cells_of_reading(reading, self._table)
        told = Told(reading.event, {index: (cell, cell) for index, cell in cells.items()})
        degrees = [found[0] for body in self._bodies.values() if (found := judge(body, told)) is not None]
        if not degrees:
            return []
        return [Release(encode_notification(reading.number, reading.event, cells), max(degrees))]


def cells_of_reading(reading: Reading, table: MissionTable) -> dict[int, int]:
    """Return the cells of all numbers of a reading; a board's reading has the middle of each byte's."""
    found: dict[int, int] = {}
    for index, attribute in attributes_of(reading.event, table).items():
        if reading.has(index):
            if isinstance(reading, ExactReading):
                _, low, high, _ = reading.corners(index)
                found[index] = cell_of((low + high) // 2, attribute)
            else:
                found[index] = sum(cells_of_byte(reading.row[index], attribute)) // 2
    return found


class LimitsMatcher:
    """Finds whom a notification satisfies; `read` takes its bytes, of whichever language they are."""

    def __init__(self, table: MissionTable, read: Callable[[bytes, MissionTable], Told]) -> None:
        self._table = table
        self._read = read
        self._bodies: dict[SubscriptionKey, Body] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold it."""
        self._bodies[key] = checked(body, self._table)

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it."""
        self._bodies.pop(key, None)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return what this notification satisfies."""
        told = self._read(vector, self._table)
        return [
            Match(key, *found)
            for key, body in sorted(self._bodies.items())
            if (found := judge(body, told)) is not None
        ]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield the matches of each, in their order."""
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)


def told_in_cells(vector: bytes, table: MissionTable) -> Told:
    """Return what a notification of this language says."""
    return decode_notification(vector)


def told_in_bytes(vector: bytes, table: MissionTable) -> Told:
    """Return what a board's notification says, whose values are known to the byte."""
    event, values = values_of_board(vector, table)
    known = attributes_of(event, table)
    return Told(
        event, {index: cells_of_byte(byte, known[index]) for index, byte in values.items() if index in known}
    )


def take_apart(table: MissionTable) -> Callable[[bytes], tuple[Part, ...]]:
    """Return what makes subscriptions that boards understand: one for all limits, or one for any of them."""

    def parts(body: bytes) -> tuple[Part, ...]:
        whole = checked(body, table)
        known = attributes_of(whole.event, table)
        groups = [whole.limits] if whole.mode == "all" else [(limit,) for limit in whole.limits]
        return tuple(
            crisp_part(
                table,
                whole.event,
                {
                    limit.attribute: bytes_of_cells(limit.first, limit.last, known[limit.attribute])
                    for limit in group
                },
            )
            for group in groups
        )

    return parts
