"""A CSV recording as a board replays it: a byte that says which attributes, and seven values, each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dens.boards.settings import BoardSettings
from dens.config.problems import DocumentError
from knowledge_manager.vocabulary.event_class import EventClass
from watchdog.csv_source import CsvSource, split_row
from watchdog.gauge import Gauge, NominalGauge
from watchdog.reading import Reading

MOST_ROWS = 1000
"""More do not fit into a micro:bit's flash."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The readings, and what was wrong with the recording."""

    rows: list[bytes]
    broken: int
    missing: int
    clipped: int
    is_cut: bool
    """Whether it has more readings than a board's flash."""


def columns_of(path: Path, event: EventClass) -> list[str]:
    """Return the names of the numeric attributes of this event class that the recording has columns for."""
    names = _header(path)
    found = [one.name for one in event.attributes if one.name in names and one.type != "nominal"]
    if not found:
        first = ", ".join(names)[:200]
        header = f"its first line is {first}" if first else "its first line, which names them, is empty"
        raise _useless(path, f"no column of {event.name}; {header}")
    return found


def useless_columns(path: Path, event: EventClass) -> list[str]:
    """Return the columns that a board cannot replay for this event class: unknown and nominal ones."""
    useful = {one.name for one in event.attributes if one.type != "nominal"}
    return [name for name in _header(path) if name not in useful]


def _header(path: Path) -> list[str]:
    """Return the columns of a recording."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return split_row(file.readline(65536).strip("\r\n"))


def recorded_rows(path: Path, settings: BoardSettings) -> Recorded:
    """Read a recording with the source that boards use, as far as it fits into a board."""
    counters = {"clipped": 0, "missing": 0}
    gauges: dict[str, Gauge | NominalGauge] = {
        one.name: Gauge(one.index, one.lo_scaled, one.hi_scaled, one.decimals, one.inner)
        for one in settings.attributes
    }
    path.stat()
    source = CsvSource(str(path), settings.event, gauges, counters)
    reading = Reading(1)
    rows: list[bytes] = []
    while len(rows) < MOST_ROWS and source.read_into(reading, 0):
        rows.append(_row(reading, settings))
    faults = source.broken, counters["missing"], counters["clipped"]
    is_cut = len(rows) == MOST_ROWS and source.read_into(reading, 0)
    source.close()
    if not rows:
        raise _useless(path, "it contains no reading")
    if not any(row[0] for row in rows):
        names = ", ".join(one.name for one in settings.attributes)
        raise _useless(path, f"none of its lines has a number for {names}")
    return Recorded(rows, *faults, is_cut)


def _useless(path: Path, message: str) -> DocumentError:
    """Return why nothing of a recording is of use to a board."""
    return DocumentError.of_file(str(path), "D711", message)


def _row(reading: Reading, settings: BoardSettings) -> bytes:
    indexes: Sequence[int] = [one.index for one in settings.attributes]
    values = bytes(reading.row[i] if i in indexes and reading.has(i) else 0 for i in range(7))
    return bytes(reading.mask[:1]) + values
