"""Recordings: sensor data from a CSV file, replayed in real time.

The file has a header. One column is the time, in seconds or as ISO 8601; another may name the series
(patients, stations). The nodes of a group then take one series each, in the order of their first row, and
start over with the first if there are more nodes than series. A series begins when the run begins. A sample
is the latest row that is not in the future; after the last row there are no more samples.
"""

import csv
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from dens.config.problems import DocumentError, Problem, did_you_mean, listed
from emulation.recordings.text import TextBounds, text_lines
from emulation.sensors.source import Sample
from knowledge_manager.units import convert
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.value_texts import fault_of, semicolon_hint

BOUNDS: Final = TextBounds(most_lines=10_000_000, longest_line=64 * 1024)
_LATEST_S: Final = Decimal(10**14)
"""Seconds; three million years."""
_MOST_SHARED: Final = 100_000
"""Distinct values that are kept in memory only once."""
_MOST_PROBLEMS: Final = 20
_LONG_GAP: Final = 10
"""A pause longer than this many median pauses is a gap."""
_IF_MISSING: Final = "if it stands for a missing value, list it in missing"
_CLIPPED: Final = "it is read as the nearest of both. If it stands for a missing value, list it in missing"


@dataclass(frozen=True, slots=True)
class Conversion:
    """Converts from the recording's unit to that of the mission table, rounded to its decimals."""

    from_unit: str
    to_unit: str
    decimals: int

    def __call__(self, text: str) -> str:
        try:
            amount = float(text)
        except ValueError:
            return text
        return f"{convert(amount, self.from_unit, self.to_unit):.{self.decimals}f}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The meaning of the columns. `missing` lists the texts for "no value"."""

    time_column: str
    series_column: str | None
    columns: Mapping[str, str]
    missing: frozenset[str]
    conversions: Mapping[str, Conversion]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    """The attributes, by which values are checked."""
    longest_gap_ms: float = float("inf")
    """The longest allowed pause between two rows of a series."""


@dataclass(frozen=True, slots=True)
class Series:
    """Rows of one series, the first of them at 0. As a sensor source it reads the latest row not in the
    future.
    """

    names: tuple[str, ...]
    times_ms: "array[int]" = field(default_factory=lambda: array("q"))
    rows: list[tuple[str | None, ...]] = field(default_factory=list)

    def sample(self, at_ms: int) -> Sample | None:
        """Return the latest row, or None after the last one."""
        position = bisect_right(self.times_ms, at_ms) - 1
        if position == len(self.rows) - 1 and at_ms > self.times_ms[-1]:
            return None
        return dict(zip(self.names, self.rows[position], strict=True))


def read_recording(path: Path, layout: Layout, warnings: list[Problem] | None = None) -> tuple[Series, ...]:
    """Return the series of a CSV file (gzip allowed), or raise `DocumentError` with its problems.

    Warnings are added for values outside their attribute's domain, repeated times and gaps, one for each
    kind.
    """
    file = str(path)
    rows = csv.reader(text_lines(path, "D311", BOUNDS), strict=True)
    try:
        collected = _read(rows, file, layout)
    except csv.Error as error:
        raise DocumentError([Problem(file, rows.line_num, 1, "error", "D311", f"not CSV: {error}")]) from None
    if warnings is not None:
        warnings.extend(collected.warnings())
    return tuple(collected.series.values())


class _Rows:
    """Collects series, problems and warnings. It stops after some problems: they are enough to mend a
    file.
    """

    def __init__(self, file: str, layout: Layout, header: list[str]) -> None:
        self.file = file
        self.series: dict[str, Series] = {}
        self._layout = layout
        self._names = tuple(layout.columns)
        self._width = len(header)
        self._time_at = header.index(layout.time_column)
        self._series_at = None if layout.series_column is None else header.index(layout.series_column)
        self._columns = [
            (attribute, header.index(column), layout.conversions.get(attribute))
            for attribute, column in layout.columns.items()
        ]
        self._lines: dict[str, array[int]] = {}
        self._begins: dict[str, Decimal] = {}
        self._shared: dict[str | None, str | None] = {}
        self._valid: dict[str, set[str]] = {name: set() for name in self._names}
        """Values that were checked before, because values repeat."""
        self._problems: list[Problem] = []
        self._noted: dict[str, tuple[int, str, str, int]] = {}

    def add(self, line: int, row: Sequence[str]) -> None:
        """Add a row to its series, or record why it is invalid."""
        if len(row) != self._width:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            self._complain(line, f"{fields}, the header has {self._width}")
            return
        time = row[self._time_at]
        time_s = _seconds(time)
        if time_s is None:
            self._complain(line, f'time "{time}" is neither seconds nor ISO 8601')
            return
        name = "" if self._series_at is None else row[self._series_at]
        series = self.series.setdefault(name, Series(self._names))
        at_ms = int((time_s - self._begins.setdefault(name, time_s)) * 1000)
        if not self._is_in_order(line, time, at_ms, series):
            return
        values = _values(row, self._columns, self._layout.missing)
        self._check_values(line, values)
        self._lines.setdefault(name, array("q")).append(line)
        series.times_ms.append(at_ms)
        series.rows.append(tuple(self._share(values[name]) for name in self._names))

    def finish(self) -> None:
        """Raise the problems that were found, and note gaps if the layout has no limit for them."""
        if self._problems:
            raise DocumentError(self._problems)
        if not self.series:
            raise DocumentError.of_file(self.file, "D311", "has no rows below its header")
        if self._layout.longest_gap_ms == float("inf"):
            self._note_gaps()

    def warnings(self) -> list[Problem]:
        """Return a warning for each kind of value that is not read as it is written."""
        found = []
        for line, what, consequence, amount in sorted(self._noted.values()):
            more = f" (and {amount - 1:,} more of the kind)" if amount > 1 else ""
            message = f"{what}{more}; {consequence}"
            found.append(Problem(self.file, line, 1, "warning", "D322", message))
        return found

    def _is_in_order(self, line: int, time: str, at_ms: int, series: Series) -> bool:
        """Check the time of a row against the row before it in its series."""
        if not series.times_ms:
            return True
        pause_ms = at_ms - series.times_ms[-1]
        if pause_ms < 0:
            self._complain(line, f"time {time} is before the row above; sort the file by time")
            return False
        if pause_ms == 0:
            self._note(line, "again", f"time {time.strip()} again", "only the last row of a moment is read")
        if pause_ms > self._layout.longest_gap_ms:
            message = f"a gap of {pause_ms / 1000:g} s before this row; longest_gap_s allows less"
            self._complain(line, message)
        return True

    def _check_values(self, line: int, values: Sample) -> None:
        for name, text in values.items():
            attribute = self._layout.attributes.get(name)
            valid = self._valid[name]
            if text is None or attribute is None or text in valid:
                continue
            fault = fault_of(text, attribute)
            if fault is None and len(valid) < _MOST_SHARED:
                valid.add(text)
            elif fault is not None and fault.kind == "unreadable":
                self._complain(line, f"{fault.message}; {_IF_MISSING}")
            elif fault is not None:
                self._note(line, name, fault.message, _CLIPPED)

    def _share(self, text: str | None) -> str | None:
        """Return an equal text that is already in memory, because values repeat."""
        if len(self._shared) < _MOST_SHARED:
            return self._shared.setdefault(text, text)
        return self._shared.get(text, text)

    def _note_gaps(self) -> None:
        """Note pauses that are much longer than the median pause of a series."""
        for name, series in self.series.items():
            pauses = [later - earlier for earlier, later in pairwise(series.times_ms)]
            median_ms = sorted(pauses)[(len(pauses) - 1) // 2] if len(pauses) > 1 else 0
            if median_ms == 0:
                continue
            for line, pause_ms in zip(self._lines[name][1:], pauses, strict=True):
                if pause_ms > _LONG_GAP * median_ms:
                    gap = f"a gap of {pause_ms / 1000:g} s before this row"
                    gap += f", usually it is {median_ms / 1000:g} s"
                    self._note(
                        line, "gap", gap, "the row before is read until then; longest_gap_s refuses it"
                    )

    def _note(self, line: int, kind: str, what: str, consequence: str) -> None:
        """Record a value that is not read as it is written: the first of each kind, and how many follow."""
        first_line, first, follows, amount = self._noted.get(kind, (line, what, consequence, 0))
        self._noted[kind] = first_line, first, follows, amount + 1

    def _complain(self, line: int, message: str) -> None:
        self._problems.append(Problem(self.file, line, 1, "error", "D311", message))
        if len(self._problems) >= _MOST_PROBLEMS:
            raise DocumentError(self._problems)


def _read(rows: Any, file: str, layout: Layout) -> _Rows:
    header = [name.strip() for name in next(rows, [])]
    _check_header(header, file, layout)
    collected = _Rows(file, layout, header)
    for row in rows:
        if row:
            collected.add(rows.line_num, row)
    collected.finish()
    return collected


def _check_header(header: list[str], file: str, layout: Layout) -> None:
    """Refuse a header without exactly one column of each name in the layout."""
    if not header:
        raise DocumentError.of_file(file, "D311", "is empty; its first line has to name the columns")
    needed = [layout.time_column, *layout.columns.values()]
    if layout.series_column is not None:
        needed.append(layout.series_column)
    needed = list(dict.fromkeys(needed))
    absent = [name for name in needed if name not in header]
    hint = semicolon_hint(",".join(header)) if absent else ""
    if hint:
        messages = [f"there is one column{hint}"]
    elif absent:
        messages = [
            f'column "{name}" is missing{did_you_mean(name, header)}; the file has: {listed(header)}'
            for name in absent
        ]
    else:
        doubled = [name for name in needed if header.count(name) > 1]
        messages = [f'there are {header.count(name)} columns "{name}"' for name in doubled]
    if messages:
        raise DocumentError(Problem(file, 1, 1, "error", "D311", message) for message in messages)


def _values(
    row: Sequence[str], taken: Sequence[tuple[str, int, Conversion | None]], missing: frozenset[str]
) -> Sample:
    values: dict[str, str | None] = {}
    for attribute, column, conversion in taken:
        text = row[column].strip()
        if text in missing:
            values[attribute] = None
        else:
            values[attribute] = text if conversion is None else conversion(text)
    return values


def _seconds(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        pass
    else:
        return number if number.is_finite() and abs(number) <= _LATEST_S else None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    start = datetime(1970, 1, 1, tzinfo=moment.tzinfo)
    return Decimal((moment - start).total_seconds())
