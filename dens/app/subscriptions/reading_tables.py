"""Reads readings from CSV files, with rows in any order.

    source,event,number,time_s,heart_rate,…      attributes as in the vocabulary; empty: not measured

`time_s` is required, because matches depend on it. The other three are optional: `source` (a number or a
word; default: one source), `event` (default: the only event class) and `number` (default: counted per source
and event class). All errors of a file are reported at once; unknown columns are warnings.
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
"""Names of the columns that are not attributes."""
MAX_REPORTED: Final = 20
_LAST_NODE: Final = 2**31 - 1
_GREATEST: Final = 10**14
"""Upper bound of times and numbers: three million years in seconds."""


@dataclass(slots=True)
class ReadingTable:
    """The readings of a file, and the names of its sources."""

    readings: list[StreamReading] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)
    """Unknown columns."""


def read_readings(path: Path, table: MissionTable, events: list[EventClass]) -> ReadingTable:
    """Return the readings of these event classes in a CSV file, also `.gz`.

    Raises one `DocumentError` with all problems.
    """
    if not path.is_file():
        raise Refusal(f"{path} is not a file; give a CSV file whose first line names attributes")
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
            header = shown(self._lines[0], quoted=False)
            hint = semicolon_hint(self._lines[0])
            events = ", ".join(self._events)
            raise Refusal(f"{self._path} has no attribute of {events} as column; header: {header}{hint}")
        twice = sorted({name for name in self._header if name and self._header.count(name) > 1})
        if twice:
            self._report(1, 1, "D351", f"duplicate column {listed(twice)}")
            raise DocumentError(self._problems)
        if self._columns["time_s"] is None:
            names = listed(list(PLACES["time_s"]))
            self._report(1, 1, "D351", f"no time column; add one of {names}, in seconds")
        rows = self._rows()
        sources = self._sources(rows)
        found = ReadingTable(
            names={number: name for name, number in sources.items()}, warnings=self._unknown_columns()
        )
        for number, row in rows:
            if len(row) != len(self._header):
                self._report(number, 1, "D351", f"{len(row)} fields, but the header has {len(self._header)}")
                continue
            reading = self._reading(number, row, sources)
            if reading is not None:
                found.readings.append(reading)
        if self._problems:
            raise DocumentError(self._problems[:MAX_REPORTED])
        return found

    def _unknown_columns(self) -> list[Problem]:
        """Return a warning for each unknown column."""
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
        """Return the non-empty rows with their line numbers."""
        reader = csv.reader(io.StringIO("\n".join(self._lines[1:])))
        try:
            return [(number, row) for number, row in enumerate(reader, start=2) if row]
        except csv.Error as error:
            self._report(reader.line_num + 1, 1, "D311", f"not CSV: {error}")
            raise DocumentError(self._problems) from None

    def _sources(self, rows: list[tuple[int, list[str]]]) -> dict[str, int]:
        """Return a number for each source: its own, or its position by name if not all are numbers."""
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
                message = "" if fault is None else fault.message
                code = "D353" if fault is not None and fault.kind == "outside" else "D352"
                self._report(line, column, code, message)
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
            self._report(line, 1, "D352", f"no event class; use one of {listed(list(self._events))}")
            return None
        if name not in self._events:
            if any(name == event.name for event in self._table.events):
                return None  # not an event class of the subscription
            hint = did_you_mean(name, self._events)
            self._report(
                line, 1, "D352", f"unknown event class {shown(name)} ({listed(list(self._events))}){hint}"
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
            message = f"{shown(text)} is not a {what}; use an integer up to {_GREATEST:,}"
            self._report(line, 1, "D352", message)
            return None
        return int(found)

    def _report(self, line: int, column: int, code: str, message: str) -> None:
        self._problems.append(Problem(str(self._path), line, column, "error", code, message))
