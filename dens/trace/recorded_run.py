"""Opens the folder of a run: its manifest and its tables, checked for completeness.

The emulator, nodes, Spark and commands read run folders through this module; Spark gets the paths of parts
whose footers were checked here. So a folder that is not a run, a newer schema, and damaged or missing parts
and tables are refused in the same way, at once and by name.
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
    """A run whose trace is readable."""

    path: Path
    manifest: Manifest
    parts: Mapping[str, tuple[Part, ...]]

    def rows(self, table: str | None = None) -> int:
        """Return the number of rows of a table, or of all tables, from the footers of their files."""
        return rows_in(self.parts if table is None else {table: self.parts[table]})

    def says(self, table: str, column: str) -> bool:
        """Return whether a column added in a later version may have values, from the footers."""
        return any(column in part.says for part in self.parts[table])

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return these columns of a table, or all; a table that was never written has no rows."""
        found = [read_rows(self.path, part.path, name, columns) for part in self.parts[name]]
        return pa.concat_tables([empty_table(name, columns), *found])


def recorded_run(path: Path) -> RecordedRun:
    """Read the folder that `dens run` wrote.

    Raises `NotARun` if the folder is not a run, is empty or lost parts of its trace, and `DocumentError` if
    something in it is damaged, of a newer version, out of bounds or a link.
    """
    folder = path.absolute()
    manifest = read_manifest(folder)
    return RecordedRun(folder, manifest, whole_parts(folder, manifest))
