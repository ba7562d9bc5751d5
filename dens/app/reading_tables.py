"""Tables of readings in CSV, in any order: attributes by name, and whose they are, which, and when.

    source,event,number,time_s,heart_rate,…      heart_rate as in the vocabulary, an empty field: not measured

`time_s` is needed, because matches depend on it. The other three of the first four columns may be missing:
`source` (a number or any word; one source), `event` (the one event class there is), `number` (counted for
each source and event class, line by line). All errors of a file are reported at once; columns that are not
known are reported as warnings.
"""

import csv
import io
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError, Problem, did_you_mean, listed
from dens.config.refusal import Refusal
from dens.node.sources.recording import field_starts
from emulation.recordings.text import text_lines
from emulation.sensors.recording import BOUNDS
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import EventClass
from plugins.authoring.streams import StreamReading
from plugins.readings import ExactReading
from plugins.value_texts import corners_of, fault_of, semicolon_hint, shown

PLACES: Final = {
    "source": ("source", "node", "record_id"),
    "event": ("event", "class"),
    "number": ("number",),
    "time_s": ("time_s", "stamp_s", "time", "stamp"),
}
"""What a column that is no attribute says, and how it may be called."""
MOST_TOLD: Final = 20
_LAST_NODE: Final = 2**31 - 1
_GREATEST: Final = 10**14
"""Seconds of three million years; more readings than that nobody has."""


@dataclass(slots=True)
class ReadingTable:
    """The readings of a file, and what its sources are called there."""

    readings: list[StreamReading] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)
    """Columns that are neither attributes nor known by another name."""


def read_readings(path: Path, table: MissionTable, events: list[EventClass]) -> ReadingTable:
    """Return the readings of a CSV file, `.gz` or not, of these event classes; everything wrong raises one
    `DocumentError`.
    """
    if not path.is_file():
        raise Refusal(f"{path} is no file; give a CSV file whose first line names attributes")
    lines = [line.rstrip("\r\n") for line in text_lines(path, "D311", BOUNDS)]
    if not lines:
        raise Refusal(f"{path} is empty; its first line names attributes")
    return _Reader(path, table, events, lines).read()


class _Reader:
    def __init__(self, path: Path, table: MissionTable, events: list[EventClass], lines: list[str]) -> None:
        self._path = path
        self._table = table
        self._events = {event.name: event for event in events}
        self._lines = lines
        self._header = [name.strip() for name in next(csv.reader([lines[0]]))]
        self._problems: list[Problem] = []
        self._counters: dict[tuple[int, int], int] = {}
        self._columns = {
            what: next((self._header.index(name) for name in names if name in self._header), None)
            for what, names in PLACES.items()
        }

    def read(self) -> ReadingTable:
        known = {attribute.name for event in self._events.values() for attribute in event.attributes}
        if not known & set(self._header):
            said = shown(self._lines[0], quoted=False)
            hint = semicolon_hint(self._lines[0])
            raise Refusal(f"{self._path} has no column of {', '.join(self._events)}; it begins {said}{hint}")
        twice = sorted({name for name in self._header if name and self._header.count(name) > 1})
        if twice:
            self._tell(1, 1, "D351", f"it names {listed(twice)} more than once; which of them counts?")
            raise DocumentError(self._problems)
        if self._columns["time_s"] is None:
            names = listed(list(PLACES["time_s"]))
            self._tell(1, 1, "D351", f"it has no column of times; name one {names}, in seconds")
        rows = self._rows()
        sources = self._sources(rows)
        found = ReadingTable(
            names={number: name for name, number in sources.items()}, warnings=self._unknown_columns()
        )
        for number, row in rows:
            if len(row) != len(self._header):
                self._tell(
                    number, 1, "D351", f"it has {len(row)} fields, and the first line {len(self._header)}"
                )
                continue
            reading = self._reading(number, row, sources)
            if reading is not None:
                found.readings.append(reading)
        if self._problems:
            raise DocumentError(self._problems[:MOST_TOLD])
        return found

    def _unknown_columns(self) -> list[Problem]:
        """Return a warning for each column that has no meaning here."""
        attributes = {attribute.name for event in self._table.events for attribute in event.attributes}
        known = {*attributes, *(name for names in PLACES.values() for name in names)}
        starts = field_starts(self._lines[0])
        of_events = [attribute.name for event in self._events.values() for attribute in event.attributes]
        return [
            Problem(
                str(self._path),
                1,
                starts[place],
                "warning",
                "D354",
                f"column {shown(name)} is not an attribute and is ignored{did_you_mean(name, of_events)}",
            )
            for place, name in enumerate(self._header)
            if name not in known
        ]

    def _rows(self) -> list[tuple[int, list[str]]]:
        """Return the rows that say anything, with their numbers."""
        reader = csv.reader(io.StringIO("\n".join(self._lines[1:])))
        try:
            return [(number, row) for number, row in enumerate(reader, start=2) if row]
        except csv.Error as error:
            self._tell(reader.line_num + 1, 1, "D311", f"not CSV: {error}")
            raise DocumentError(self._problems) from None

    def _sources(self, rows: list[tuple[int, list[str]]]) -> dict[str, int]:
        """Return a number for each source: its own, or where not all have one, their order by name."""
        at = self._columns["source"]
        names = {"1"} if at is None else {row[at].strip() for _, row in rows if at < len(row)}
        if all(name.isdecimal() and int(name) <= _LAST_NODE for name in names):
            return {name: int(name) for name in names}
        return {name: number for number, name in enumerate(sorted(names), start=1)}

    def _reading(self, line: int, row: list[str], sources: dict[str, int]) -> StreamReading | None:
        event = self._event(line, row)
        if event is None:
            return None
        source = sources[self._text(row, "source") or "1"]
        count = self._counters.get((source, event.index), 0)
        self._counters[source, event.index] = count + 1
        number = self._whole(line, row, "number", count)
        second = self._whole(line, row, "time_s", None)
        filled = ExactReading(self._table.feature_bytes)
        filled.clear(event.index, 0, 0)
        values: dict[int, int] = {}
        for attribute in event.attributes:
            if attribute.name not in self._header:
                continue
            place = self._header.index(attribute.name)
            text = row[place].strip()
            if not text:
                continue
            fault = fault_of(text, attribute)
            corners = corners_of(text, attribute)
            if fault is not None or corners is None:
                column = field_starts(self._lines[line - 1])[place]
                said = "" if fault is None else fault.message
                code = "D353" if fault is not None and fault.kind == "outside" else "D352"
                self._tell(line, column, code, said)
                continue
            filled.measure(attribute, corners)
            values[attribute.index] = filled.row[attribute.index]
        if number is None or second is None or not values:
            return None
        return StreamReading(source, event.index, number, second, values, line)

    def _event(self, line: int, row: list[str]) -> EventClass | None:
        name = self._text(row, "event")
        if not name:
            if len(self._events) == 1:
                return next(iter(self._events.values()))
            self._tell(line, 1, "D352", f"it names no event class ({listed(list(self._events))})")
            return None
        if name not in self._events:
            if any(name == event.name for event in self._table.events):
                return None  # readings that the subscription is not about
            hint = did_you_mean(name, self._events)
            self._tell(
                line, 1, "D352", f"{shown(name)} is no event class ({listed(list(self._events))}){hint}"
            )
            return None
        return self._events[name]

    def _text(self, row: list[str], what: str) -> str:
        at = self._columns[what]
        return "" if at is None else row[at].strip()

    def _whole(self, line: int, row: list[str], what: str, absent: int | None) -> int | None:
        text = self._text(row, what)
        if not text and (absent is not None or self._columns[what] is None):
            return absent
        try:
            found = Decimal(text)
        except InvalidOperation:
            found = Decimal("NaN")
        if not found.is_finite() or abs(found) > _GREATEST or found != found.to_integral_value():
            said = f"{shown(text)} is no {what}: it is a whole number of at most {_GREATEST:,}"
            self._tell(line, 1, "D352", said)
            return None
        return int(found)

    def _tell(self, line: int, column: int, code: str, message: str) -> None:
        self._problems.append(Problem(str(self._path), line, column, "error", code, message))
