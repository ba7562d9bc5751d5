"""A recording that is replayed from a file which is whole: every line of it that is skipped is told.

A watchdog's source counts such lines, because a board has nobody to tell and a file that grows may have half
a line at its end; a person who replays a file wants to know which, and why.
"""

from collections.abc import Callable
from pathlib import Path

from watchdog.csv_source import CsvSource, split_row
from watchdog.gauge import Gauge, NominalGauge


class NumberedSource(CsvSource):
    """A CSV source that tells the number of each line it skips, counted from 1, and the reason."""

    def __init__(
        self,
        path: Path,
        event: int,
        columns: dict[str, Gauge | NominalGauge],
        counters: dict[str, int],
        skip: Callable[[int, str], None],
    ) -> None:
        super().__init__(str(path), event, columns, counters)
        self._recording = path
        self._skip = skip
        self._lines = 0
        self._told = 0

    def _next_line(self) -> bytes | None:
        """Return the next line, after telling of the one before it if that was skipped."""
        if self.broken > self._told:
            self._told = self.broken
            self._skip(self._lines, self._why(self._last))
        line = super()._next_line()
        self._lines += line is not None
        return line

    def _why(self, line: bytes) -> str:
        try:
            fields = len(split_row(str(line, "utf-8").strip("\r\n")))
        except ValueError:
            return "it is no UTF-8"
        return f"it has {fields} fields, and the first line has {len(self._names)}"

    def end(self) -> None:
        """Let the file go; a last line without an end was not read, and that is told too."""
        rest = self._recording.stat().st_size - self._position
        if rest > 0:
            self._skip(self._lines + 1, "the last line has no line break at its end, as if it were cut off")
        self.close()
