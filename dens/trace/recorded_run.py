"""The folder of a run as somebody who asks it has it: what it says of itself, and its tables, found whole.

Emulator, real nodes, Spark and commands read a run's folder through this room; Spark is given the paths of
parts whose footers were looked at here. So a folder that is not a run, a trace of a newer schema, a torn or a
missing part and a missing table are refused in one way, at once and by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dens.trace.manifest import Manifest, read_manifest
from dens.trace.parts import Part, rows_in, whole_parts
from dens.trace.tables import empty_table, read_rows


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run whose trace has been found readable."""

    path: Path
    manifest: Manifest
    parts: Mapping[str, tuple[Part, ...]]

    def rows(self, table: str | None = None) -> int:
        """Return how many rows a table has, or all together, from the footers of its files."""
        return rows_in(self.parts if table is None else {table: self.parts[table]})

    def says(self, table: str, column: str) -> bool:
        """Return whether a column that came with a later version may have a value, from the footers."""
        return any(column in part.says for part in self.parts[table])

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return these columns of a table, or all of it; one that nothing was written to has no row."""
        found = [read_rows(self.path, part.path, name, columns) for part in self.parts[name]]
        return pa.concat_tables([empty_table(name, columns), *found])


def recorded_run(path: Path) -> RecordedRun:
    """Read the folder that `dens run` wrote.

    Raises `NotARun` when the folder is not a run, is empty or has lost some of its trace, and `DocumentError`
    when something in it is damaged, of a newer version, out of bounds or a link.
    """
    folder = path.absolute()
    manifest = read_manifest(folder)
    return RecordedRun(folder, manifest, whole_parts(folder, manifest))
