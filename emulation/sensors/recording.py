"""Recordings: sensor data from a CSV file, replayed at the pace at which it was taken.

The file has a header. One column is the time, in seconds or as ISO 8601; another may tell several series
apart (patients, stations), and then the nodes of a group take one series each, in the order of their
first row, and begin again with the first when there are more nodes than series. A series begins when the
run begins. When a node samples, it reads the latest row that is not in the future; after the last row it
reads nothing more.
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
_SHARED: Final = 100_000
"""So many different values are kept once only, however often they occur."""
_LONG_GAP = 10
"""A pause that is longer than so many usual ones is a gap."""
_CLIPPED = "it is read as the nearest of both. If it means that there is none, list it in missing"


@dataclass(frozen=True, slots=True)
class Conversion:
    """From the recording's unit to the mission table's, rounded to what the table keeps."""

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
    """Which column is what; `missing` lists the texts that mean "no value"."""

    time_column: str
    series_column: str | None
    columns: Mapping[str, str]
    missing: frozenset[str]
    conversions: Mapping[str, Conversion]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    """What the values are of; a value that is none of its attribute's is refused."""
    longest_gap_ms: float = float("inf")
    """How far apart two rows of a series may be."""


@dataclass(frozen=True, slots=True)
class Series:
    """Rows of one series, the first of them at 0. As a sensor it reads the latest row not in the future."""

    names: tuple[str, ...]
    """The attributes that a row has values of."""
    times_ms: "array[int]" = field(default_factory=lambda: array("q"))
    rows: list[tuple[str | None, ...]] = field(default_factory=list)

    def sample(self, at_ms: int) -> Sample | None:
        """Return the latest row, or None after the last one has had its turn."""
        position = bisect_right(self.times_ms, at_ms) - 1
        if position == len(self.rows) - 1 and at_ms > self.times_ms[-1]:
            return None
        return dict(zip(self.names, self.rows[position], strict=True))


def read_recording(path: Path, layout: Layout, warnings: list[Problem] | None = None) -> tuple[Series, ...]:
    """Return the series of a CSV file (gzip allowed), or raise `DocumentError` with everything wrong in it.

    What is read otherwise than it is written (a value outside of its attribute's domain, a row at the time of
    the row above, a gap) is added to the warnings, once for each kind.
    """
    file = str(path)
    rows = csv.reader(text_lines(path, "D311", BOUNDS), strict=True)
    try:
        found = _read(rows, file, layout)
    except csv.Error as error:
        raise DocumentError([Problem(file, rows.line_num, 1, "error", "D311", f"not CSV: {error}")]) from None
    if warnings is not None:
        warnings.extend(found.warnings())
    return tuple(found.series.values())


class _Rows:
    """Collects series, problems and warnings; the first problems are enough to mend a file, so it stops after
    some."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.series: dict[str, Series] = {}
        self.lines: dict[str, array[int]] = {}
        self._shared: dict[str | None, str | None] = {}
        self.begins: dict[str, Decimal] = {}
        self.problems: list[Problem] = []
        self._noted: dict[str, tuple[int, str, str, int]] = {}

    def shared(self, text: str | None) -> str | None:
        """Return an equal text that is there already, where values repeat themselves."""
        if len(self._shared) < _SHARED:
            return self._shared.setdefault(text, text)
        return self._shared.get(text, text)

    def note(self, line: int, kind: str, what: str, consequence: str) -> None:
        """Something is read otherwise than it is written; the first of each kind is told, and how many."""
        first_line, first, follows, amount = self._noted.get(kind, (line, what, consequence, 0))
        self._noted[kind] = first_line, first, follows, amount + 1

    def warnings(self) -> list[Problem]:
        """Return what is read otherwise than it is written."""
        found = []
        for line, what, consequence, amount in sorted(self._noted.values()):
            more = f" (and {amount - 1:,} more of the kind)" if amount > 1 else ""
            message = f"{what}{more}; {consequence}"
            found.append(Problem(self.file, line, 1, "warning", "D322", message))
        return found

    def note_gaps(self) -> None:
        """Note pauses that are far longer than a series' usual ones."""
        for name, series in self.series.items():
            pauses = [later - earlier for earlier, later in pairwise(series.times_ms)]
            usual_ms = sorted(pauses)[(len(pauses) - 1) // 2] if len(pauses) > 1 else 0
            if usual_ms == 0:
                continue
            for line, pause_ms in zip(self.lines[name][1:], pauses, strict=True):
                if pause_ms > _LONG_GAP * usual_ms:
                    gap = (
                        f"a gap of {pause_ms / 1000:g} s before this row, usually it is {usual_ms / 1000:g} s"
                    )
                    self.note(line, "gap", gap, "the row before is read until then; longest_gap_s refuses it")

    def complain(self, line: int, message: str) -> None:
        self.problems.append(Problem(self.file, line, 1, "error", "D311", message))
        if len(self.problems) >= 20:
            raise DocumentError(self.problems)


def _read(rows: Any, file: str, layout: Layout) -> _Rows:
    header = [name.strip() for name in next(rows, [])]
    if not header:
        raise DocumentError.of_file(file, "D311", "is empty; its first line has to name the columns")
    wanted = [layout.time_column, *layout.columns.values()]
    if layout.series_column is not None:
        wanted.append(layout.series_column)
    absent = [name for name in dict.fromkeys(wanted) if name not in header]
    hint = semicolon_hint(",".join(header)) if absent else ""
    if hint:
        raise DocumentError([Problem(file, 1, 1, "error", "D311", f"there is one column{hint}")])
    if absent:
        raise DocumentError(
            Problem(
                file, 1, 1, "error", "D311",
                f'there is no column "{name}"{did_you_mean(name, header)}; the file has: {listed(header)}',
            )
            for name in absent
        )  # fmt: skip
    doubled = [name for name in dict.fromkeys(wanted) if header.count(name) > 1]
    if doubled:
        raise DocumentError(
            Problem(file, 1, 1, "error", "D311", f'there are {header.count(name)} columns "{name}"')
            for name in doubled
        )
    time_at = header.index(layout.time_column)
    series_at = None if layout.series_column is None else header.index(layout.series_column)
    taken = [
        (attribute, header.index(column), layout.conversions.get(attribute))
        for attribute, column in layout.columns.items()
    ]
    found = _Rows(file)
    names = tuple(layout.columns)
    good: dict[str, set[str]] = {name: set() for name in names}
    """Values repeat themselves; what was found good need not be looked at again."""
    for row in rows:
        if not row:
            continue
        if len(row) != len(header):
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            found.complain(rows.line_num, f"{fields}, the header has {len(header)}")
            continue
        time_s = _seconds(row[time_at])
        if time_s is None:
            found.complain(rows.line_num, f'time "{row[time_at]}" is neither seconds nor ISO 8601')
            continue
        who = "" if series_at is None else row[series_at]
        begin = found.begins.setdefault(who, time_s)
        series = found.series.setdefault(who, Series(names))
        at_ms = int((time_s - begin) * 1000)
        if series.times_ms and at_ms < series.times_ms[-1]:
            found.complain(
                rows.line_num, f"time {row[time_at]} is before the row above; sort the file by time"
            )
            continue
        if series.times_ms and at_ms == series.times_ms[-1]:
            again = f"time {row[time_at].strip()} again"
            found.note(rows.line_num, "again", again, "only the last row of a moment is read")
        if series.times_ms and at_ms - series.times_ms[-1] > layout.longest_gap_ms:
            gap_s = (at_ms - series.times_ms[-1]) / 1000
            found.complain(rows.line_num, f"a gap of {gap_s:g} s before this row; longest_gap_s allows less")
        values = _values(row, taken, layout.missing)
        for name, text in values.items():
            attribute = layout.attributes.get(name)
            if text is None or attribute is None or text in good[name]:
                continue
            fault = fault_of(text, attribute)
            if fault is None and len(good[name]) < _SHARED:
                good[name].add(text)
            elif fault is not None and fault.kind == "unreadable":
                advice = "if it means that there is none, list it in missing"
                found.complain(rows.line_num, f"{fault.message}; {advice}")
            elif fault is not None:
                found.note(rows.line_num, name, fault.message, _CLIPPED)
        found.lines.setdefault(who, array("q")).append(rows.line_num)
        series.times_ms.append(at_ms)
        series.rows.append(tuple(found.shared(values[name]) for name in names))
    if found.problems:
        raise DocumentError(found.problems)
    if not found.series:
        raise DocumentError.of_file(file, "D311", "has no rows below its header")
    if layout.longest_gap_ms == float("inf"):
        found.note_gaps()
    return found


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
