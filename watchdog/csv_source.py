"""A CSV file as a source: protocol `file`, content type `text/csv`.

The file may grow while it is read, may end in the middle of a line that is still being written, and may be
replaced by a new one (rotation). A new file is recognised without the help of a file system: the line that
was read last no longer stands where it stood. The old file is read to its end before the new one is begun.
"""

from watchdog.gauge import Gauge, NominalGauge
from watchdog.reading import Reading


def split_row(line: str) -> list[str]:
    """Return the fields of one CSV line; a field in double quotes may hold commas and doubled quotes."""
    fields = []
    field = ""
    quoted = False
    i = 0
    while i < len(line):
        character = line[i]
        if quoted:
            if character != '"':
                field += character
            elif line[i + 1 : i + 2] == '"':
                field += '"'
                i += 1
            else:
                quoted = False
        elif character == '"':
            quoted = True
        elif character == ",":
            fields.append(field)
            field = ""
        else:
            field += character
        i += 1
    fields.append(field)
    return fields


class CsvSource:
    """Follows a CSV file whose first line names its columns.

    `columns` maps column names to gauges. A line with another number of fields than the first, or that is no
    UTF-8, is skipped and counted in `broken`; a column that the file lacks is missing in every reading.
    """

    def __init__(
        self, path: str, event: int, columns: dict[str, Gauge | NominalGauge], counters: dict[str, int]
    ) -> None:
        self.event = event
        self.number = 0
        self.broken = 0
        self.rotations = 0
        self._path = path
        self._columns = columns
        self._counters = counters
        self._file = None  # type: object
        self._names = []  # type: list[str]
        self._last = b""
        self._position = 0

    def start(self) -> None:
        """Open the file where it was left, or at its beginning if another one has taken its place; one that
        cannot be opened raises OSError.
        """
        if self._file is None:
            if self._replaced():
                self.rotations += 1
                self.close()
            file = open(self._path, "rb")
            file.seek(self._position)
            self._file = file

    def stop(self) -> None:
        """Close the file, and remember how far it was read."""
        if self._file is not None:
            self._file.close()  # type: ignore[attr-defined]
            self._file = None

    def read_into(self, reading: Reading, stamp_s: int) -> bool:
        """Fill the reading with the next whole line; False when there is none at the moment."""
        while True:
            line = self._next_line()
            if line is None:
                return False
            try:
                fields = split_row(str(line, "utf8").strip("\r\n"))
            except ValueError:
                self.broken += 1
                continue
            if not self._names:
                self._names = fields
                continue
            if len(fields) != len(self._names):
                self.broken += 1
                continue
            reading.clear(self.event, self.number, stamp_s)
            for name in self._columns:
                raw = fields[self._names.index(name)] if name in self._names else None
                self._columns[name].note(reading, raw, self._counters)
            self.number += 1
            return True

    def _next_line(self) -> bytes | None:
        """Return the next whole line of the file, or of the one that took its place; None when there is
        none.
        """
        line = self._line()
        if line is None and self._replaced():
            self.rotations += 1
            self.close()
            line = self._line()
        return line

    def _line(self) -> bytes | None:
        """Return the next whole line of the file that is open."""
        try:
            self.start()
        except OSError:
            return None
        line = self._file.readline()  # type: ignore[attr-defined]
        if not line.endswith(b"\n"):
            self._file.seek(self._position)  # type: ignore[attr-defined]
            return None
        self._position += len(line)
        self._last = line
        return line  # type: ignore[no-any-return]

    def _replaced(self) -> bool:
        """Return whether the file was replaced: the last line read is not where it was."""
        if self._position == 0:
            return False
        try:
            with open(self._path, "rb") as now:
                now.seek(self._position - len(self._last))
                return bytes(now.read(len(self._last))) != self._last
        except OSError:
            return False

    def close(self) -> None:
        """Close the file; a later read opens it again from the start."""
        self.stop()
        self._names = []
        self._last = b""
        self._position = 0
