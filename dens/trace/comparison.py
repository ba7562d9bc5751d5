"""Compares two runs: settings, figures and traces.

The same scenario and seed give the same bytes, so bytes are compared first, then rows: a version that orders
events within one millisecond differently writes the same rows in another order, which is reported separately.
Tables are listed causes first, so the first one that differs shows where to look. An interrupted run ended
within a millisecond; it is compared by the rows before that time.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dens.config.untrusted_folder import open_in, parts_in
from dens.trace.losses import refuse_losses
from dens.trace.manifest import read_manifest
from dens.trace.run_documents import manifest_of, summary_of
from dens.trace.schema import TABLES
from dens.trace.tables import empty_table, parts_of_table

_IN_MANIFEST_TOO = ("scenario", "seed", "status", "simulated_s")
"""What the summary repeats."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that differs: its path and both values (None if missing)."""

    path: str
    one: Any
    other: Any

    def line(self) -> str:
        return f"{self.path}: {_shown(self.one)} | {_shown(self.other)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two runs differ."""

    settings: tuple[Difference, ...]
    """In the manifests: scenario, seed, documents, versions, status."""
    figures: tuple[Difference, ...]
    """In the summaries."""
    tables: tuple[str, ...]
    """The tables of the traces whose rows differ, causes before effects."""
    rearranged: tuple[str, ...] = ()
    """The tables that hold the same rows, in another order or in other bytes."""
    until_ms: int | None = None
    """If set, only the rows before this time were compared."""

    @property
    def same_trace(self) -> bool:
        """Return whether both traces are identical, byte for byte."""
        return not self.tables and not self.rearranged

    @property
    def same_rows(self) -> bool:
        """Return whether both traces have the same rows, in any order within a millisecond."""
        return not self.tables

    def as_document(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "same_trace": self.same_trace,
            "same_rows": self.same_rows,
            "until_ms": self.until_ms,
            "tables": list(self.tables),
            "rearranged": list(self.rearranged),
            "settings": [asdict(difference) for difference in self.settings],
            "figures": [asdict(difference) for difference in self.figures],
        }

    def lines(self) -> list[str]:
        """Return the comparison for people."""
        traces = self._about_traces()
        found = [difference.line() for difference in (*self.settings, *self.figures)]
        names = next((one for one in self.settings if one.path == "scenario.name"), None)
        if names is None:
            return [*traces, *found]
        found.remove(names.line())
        return [f"different scenarios: {_shown(names.one)} | {_shown(names.other)}", *traces, *found]

    def _about_traces(self) -> list[str]:
        if self.same_trace and self.until_ms is not None:
            return [f"same trace, row for row before {self.until_ms / 1000:,.3f} s"]
        if self.same_trace:
            return ["same trace, byte for byte"]
        differ = f"traces differ in {', '.join(self.tables)}"
        lines = [differ if self.tables else "the same rows in every table"]
        if self.rearranged:
            lines.append(
                f"the same rows in another order, or in other bytes, in {', '.join(self.rearranged)}"
            )
        return lines


def compare_runs(one: Path, other: Path) -> Comparison:
    """Compare the folders of two runs. A folder that is not a run, or lost a part, raises `NotARun`."""
    for run in (one, other):
        refuse_losses(run, read_manifest(run), {table: parts_in(run, table) for table in TABLES})
    settings = tuple(differences(_settings(one), _settings(other)))
    unlike = [table for table in TABLES if _bytes_of(one, table) != _bytes_of(other, table)]
    rearranged = tuple(table for table in unlike if _digest_of(one, table) == _digest_of(other, table))
    return Comparison(
        settings,
        tuple(
            difference
            for difference in differences(summary_of(one), summary_of(other))
            if difference.path not in _IN_MANIFEST_TOO
        ),
        tuple(table for table in unlike if table not in rearranged),
        rearranged,
    )


def compare_until(one: Path, other: Path, until_ms: int) -> Comparison:
    """Compare the manifests of two runs and the rows of their traces before a time.

    Figures are left out, because they include the last millisecond.
    """
    return Comparison(
        tuple(differences(_settings(one), _settings(other))),
        (),
        tuple(
            table
            for table in TABLES
            if not _rows_before(one, table, until_ms).equals(_rows_before(other, table, until_ms))
        ),
        until_ms=until_ms,
    )


def _settings(run: Path) -> dict[str, Any]:
    """Return the manifest without the number of files per table, which is not a difference of runs."""
    document = manifest_of(run)
    document.pop("parts", None)
    return document


def differences(one: Any, other: Any, path: str = "") -> Iterator[Difference]:
    """Yield where two documents differ, by the paths of their keys."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            yield from differences(one.get(key), other.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            left = one[index] if index < len(one) else None
            right = other[index] if index < len(other) else None
            yield from differences(left, right, f"{path}[{index}]")
    elif one != other:
        yield Difference(path, one, other)


def _rows_before(run: Path, table: str, until_ms: int) -> pa.Table:
    """Return the rows before a time; of legs and contacts those that ended before."""
    empty = empty_table(table)
    if until_ms == 0:
        return empty  # the run may have been interrupted before it wrote anything
    rows = pa.concat_tables([empty, *parts_of_table(run, table)])
    time = next((name for name in ("at_ms", "created_ms", "end_ms") if name in TABLES[table].names), None)
    rows = rows if time is None else rows.filter(pc.less(rows[time], pa.scalar(until_ms, pa.int64())))
    return rows.combine_chunks()


def _digest_of(run: Path, table: str) -> tuple[int, int]:
    """Return the number of rows and the sum of their hashes, which do not depend on the order.

    Hashes are comparable within one process only. One part is in memory at a time.
    """
    amount = total = 0
    for part in parts_of_table(run, table):
        amount += part.num_rows
        columns = [column.to_pylist() for column in part.columns]
        total += sum(hash(repr(row)) for row in zip(*columns, strict=True))
    return amount, total


def _bytes_of(run: Path, table: str) -> list[tuple[str, bytes]]:
    found = []
    for part in parts_in(run, table):
        with open_in(run, str(part.relative_to(run))) as file:
            found.append((part.name, file_digest(file, "sha256").digest()))
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
