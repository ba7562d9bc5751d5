"""Detects that a trace lost parts: the last files of a table, or all of them.

The remaining files do not show that. The manifest of a complete run has the number of parts per table; older
runs have a summary with row counts. A partial or running run has neither and is read as it is.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.compute as pc

from dens.config.problems import DocumentError
from dens.trace.manifest import Manifest
from dens.trace.parquet_guard import footer_of
from dens.trace.run_documents import NotARun, summary_of
from dens.trace.tables import read_rows

_ROWS_OF: Final = {"nodes": "nodes", "contacts": "contacts", "notifications": "notifications"}
"""Table → the count of the summary that is the number of its rows."""


def refuse_losses(folder: Path, manifest: Manifest, parts: Mapping[str, Sequence[Path]]) -> None:
    """Raise `NotARun` with the name of the table if a complete run lacks parts or rows."""
    if manifest.partial:
        return
    for table, written in manifest.parts.items():
        found = len(parts.get(table, ()))
        if found < written:
            raise _loss(folder, table, f"{found} of its {written} parts")
    if not manifest.parts:
        _refuse_by_summary(folder, parts)


def _refuse_by_summary(folder: Path, parts: Mapping[str, Sequence[Path]]) -> None:
    summary = _summary(folder)
    for table, count in _ROWS_OF.items():
        found = sum(footer_of(folder, part).num_rows for part in parts[table])
        _refuse_fewer(folder, table, found, summary.get(count), "rows")
    is_delivered = pc.field("kind") == "delivered"
    steps = (read_rows(folder, part, "messages", ["kind"]) for part in parts["messages"])
    found = sum(rows.filter(is_delivered).num_rows for rows in steps)
    _refuse_fewer(folder, "messages", found, summary.get("delivered"), "deliveries")


def _refuse_fewer(folder: Path, table: str, found: int, written: Any, of_what: str) -> None:
    if isinstance(written, int) and found < written:
        raise _loss(folder, table, f"{found:,} of its {written:,} {of_what}")


def _summary(folder: Path) -> Mapping[str, Any]:
    """Return the counts of the run; none where they are not there or cannot be read."""
    try:
        return summary_of(folder)
    except (NotARun, DocumentError):
        return {}


def _loss(folder: Path, table: str, left: str) -> NotARun:
    return NotARun(
        f"{folder / 'trace' / table}: table {table} has only {left} left; the trace was damaged after it was "
        "written, run the scenario again"
    )
