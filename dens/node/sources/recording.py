"""Replays a recording from a complete file and reports every line and value that it rejects.

A watchdog's own source only counts what it skips, because a board has no console, and clips values outside
the domain, because a saturated sensor means it. The user of a file wants to know which line, which value, and
why; and a value that no such sensor can measure (a typing error, a wrong unit) must never become an alarm at
the limit of the domain.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from dens.config.problems import Problem, did_you_mean, listed
from dens.config.refusal import Refusal
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.readings import ExactReading
from plugins.value_texts import corners_of, fault_of, semicolon_hint, shown
from watchdog.csv_source import split_row

LONGEST_LINE: Final = 65_536
"""Bytes. Longer lines are skipped without being held in memory."""

Tell = Callable[[Problem], None]


@dataclass(frozen=True, slots=True)
class Columns:
    """The header of a recording: columns that are used, and unknown ones."""

    path: Path
    names: tuple[str, ...]
    taken: dict[int, Attribute]
    """The attributes by column."""
    unknown: tuple[Problem, ...]

    @property
    def attributes(self) -> list[str]:
        """Return the names of the attributes that are measured, in the order of the columns."""
        return [attribute.name for attribute in self.taken.values()]


def recorded_columns(place: str | Path, event: EventClass, ignored: frozenset[str] = frozenset()) -> Columns:
    """Read the header of a recording; one without any attribute of this event class is refused.

    A column that is neither an attribute nor ignored is a problem.
    """
    path = Path(place)
    if not path.is_file():
        raise Refusal(f"{path} is not a file; give a CSV file whose first line names attributes")
    with path.open("rb") as file:
        header = file.readline(LONGEST_LINE).decode("utf-8-sig", errors="replace").strip("\r\n")
    names = tuple(name.strip() for name in split_row(header))
    known = {attribute.name: attribute for attribute in event.attributes}
    taken = {place: known[name] for place, name in enumerate(names) if name in known}
    if not taken:
        quoted = shown(header, quoted=False)
        raise Refusal(
            f"{path} has no column of {event.name}; its first line is {quoted}{semicolon_hint(header)}"
        )
    doubled = sorted({name for name in names if name in known and names.count(name) > 1})
    if doubled:
        raise Refusal(f"{path}:1: {', '.join(doubled)} has more than one column; keep one of them")
    starts = field_starts(header)
    unknown = tuple(
        Problem(str(path), 1, starts[place], "error", "D354", _unknown_column(name, event))
        for place, name in enumerate(names)
        if name not in known and name not in ignored
    )
    return Columns(path, names, taken, unknown)


def _unknown_column(name: str, event: EventClass) -> str:
    known = [attribute.name for attribute in event.attributes]
    hint = f"{did_you_mean(name, known)} ({listed(known)})"
    unknown = f"{shown(name)} is not an attribute of {event.name}{hint}"
    return f"{unknown}; the column is left out (--ignore allows it)"


def field_starts(line: str) -> list[int]:
    """Return the columns, counted from 1, at which the fields of a CSV line begin."""
    starts, quoted = [1], False
    for place, character in enumerate(line, start=1):
        if character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            starts.append(place + 1)
    return starts


class Recording:
    """A source that reads lines, and reports rejected lines and values.

    It reads one reading ahead, so that `is_over` is known. A stopped one keeps its position.
    """

    def __init__(self, columns: Columns, event: EventClass, tell: Tell, counters: dict[str, int]) -> None:
        self._columns = columns
        self._event = event.index
        self._tell = tell
        self._counters = counters
        self._rest: Iterator[dict[str, str]] | None = None
        self._ahead: dict[str, str] | None = None

    @property
    def attributes(self) -> list[str]:
        """Return the names of the attributes that it fills."""
        return self._columns.attributes

    @property
    def is_over(self) -> bool:
        """Return whether all of it was read."""
        return self._rest is not None and self._ahead is None

    def start(self) -> None:
        """Open the file at the first start; raise `OSError` if that fails."""
        if self._rest is None:
            file = self._columns.path.open("rb")
            for problem in self._columns.unknown:
                self._tell(problem)
            rest = self._readings(file)
            self._ahead = next(rest, None)
            self._rest = rest

    def stop(self) -> None:
        """Keep the position."""

    def read_into(self, reading: ExactReading, stamp_s: int) -> bool:
        """Fill the reading with the next line, if one is left.

        An empty value was not measured. An invalid one is reported and the line read without it; a line
        without valid values is skipped.
        """
        values = self._ahead
        if values is None or self._rest is None:
            return False
        reading.clear(self._event, 0, stamp_s)
        for attribute in self._columns.taken.values():
            corners = corners_of(values.get(attribute.name, ""), attribute)
            if corners is None:
                self._counters["missing"] += 1
            else:
                reading.measure(attribute, corners)
        self._ahead = next(self._rest, None)
        return True

    def _readings(self, file: BinaryIO) -> Iterator[dict[str, str]]:
        """Yield the valid values of each line that has any."""
        for number, line in self._lines(file):
            fields = self._fields(number, line)
            if fields is None:
                continue
            values = dict(self._values(number, line, fields))
            if any(values.values()) or len(values) == len(self._columns.taken):
                yield values

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, str]]:
        """Yield the readable lines after the header, with their numbers from 2 on."""
        number = 1
        with file:
            _rest_of_line(file.readline(LONGEST_LINE), file.readline)
            while line := file.readline(LONGEST_LINE):
                number += 1
                if not _rest_of_line(line, file.readline):
                    self._problem(number, 1, f"it is longer than {LONGEST_LINE} bytes")
                elif not line.endswith(b"\n"):
                    self._problem(
                        number, 1, "the last line has no line break at its end, as if it were cut off"
                    )
                else:
                    try:
                        yield number, line.decode().strip("\r\n")
                    except UnicodeDecodeError as error:
                        self._problem(number, error.start + 1, "it is not UTF-8")

    def _fields(self, number: int, line: str) -> list[str] | None:
        fields, wanted = split_row(line), len(self._columns.names)
        if len(fields) == wanted:
            return fields
        hint = ""
        if len(fields) > wanted:
            hint = "; if a comma stands for a decimal point, write a point"
        amount = f"{len(fields)} field" + "s" * (len(fields) != 1)
        self._problem(number, 1, f"it has {amount}, and the first line has {wanted}{hint}")
        return None

    def _values(self, number: int, line: str, fields: list[str]) -> Iterator[tuple[str, str]]:
        """Yield attributes and values, empty for empty fields; invalid ones are reported and left out."""
        for place, attribute in self._columns.taken.items():
            text = fields[place].strip()
            fault = fault_of(text, attribute) if text else None
            if fault is None:
                yield attribute.name, text
                continue
            code = "D352" if fault.kind == "unreadable" else "D353"
            at, message = field_starts(line)[place], f"{fault.message}; it is left out"
            self._tell(Problem(str(self._columns.path), number, at, "error", code, message))

    def _problem(self, line: int, column: int, message: str) -> None:
        skipped = f"{message}; the line is skipped"
        self._tell(Problem(str(self._columns.path), line, column, "error", "D351", skipped))


def _rest_of_line(line: bytes, readline: Callable[[int], bytes]) -> bool:
    """Return whether a line was read completely; if not, skip the rest of it."""
    if len(line) < LONGEST_LINE or line.endswith(b"\n"):
        return True
    while (more := readline(LONGEST_LINE)) and not more.endswith(b"\n"):
        pass
    return False
