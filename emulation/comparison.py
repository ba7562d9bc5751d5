"""Two runs side by side: what they were made of, what they came to, and whether their traces are the same.

Nothing of a trace is read but its bytes: the same scenario and seed give the same bytes, so two files that
differ tell that the runs did, and the first table that differs, in the order in which things cause each
other, tells where to look. Only an interrupted run, which ended in the middle of a moment, is compared by the
rows before that moment.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from emulation.trace.schema import TABLES

_IN_MANIFEST_TOO = ("scenario", "seed", "status", "simulated_s")
"""What the summary repeats."""


class NotARun(ValueError):
    """The folder is not what `dens run` writes."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same: its path, as a person writes it, and both values (None: not there)."""

    path: str
    one: Any
    other: Any

    def line(self) -> str:
        """Return it for people."""
        return f"{self.path}: {_shown(self.one)} | {_shown(self.other)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two runs differ."""

    settings: tuple[Difference, ...]
    """In the manifests: scenario, seed, documents, versions, status."""
    figures: tuple[Difference, ...]
    """In the summaries."""
    tables: tuple[str, ...]
    """The tables of the traces whose bytes differ, causes before effects."""
    until_ms: int | None = None
    """Where only what happened before this moment was compared, row by row."""

    @property
    def same_trace(self) -> bool:
        """Say whether both traces are the same, byte for byte."""
        return not self.tables

    def as_document(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "same_trace": self.same_trace,
            "until_ms": self.until_ms,
            "tables": list(self.tables),
            "settings": [asdict(difference) for difference in self.settings],
            "figures": [asdict(difference) for difference in self.figures],
        }

    def lines(self) -> list[str]:
        """Return the comparison for people."""
        how = (
            "byte for byte" if self.until_ms is None else f"row for row before {self.until_ms / 1000:,.3f} s"
        )
        traces = f"same trace, {how}" if self.same_trace else f"traces differ in {', '.join(self.tables)}"
        found = [difference.line() for difference in (*self.settings, *self.figures)]
        names = next((one for one in self.settings if one.path == "scenario.name"), None)
        if names is None:
            return [traces, *found]
        found.remove(names.line())
        return [f"different scenarios: {_shown(names.one)} | {_shown(names.other)}", traces, *found]


def compare_runs(one: Path, other: Path) -> Comparison:
    """Compare the folders of two runs; one that is none raises `NotARun`."""
    return Comparison(
        tuple(differences(_manifest(one), _manifest(other))),
        tuple(
            difference
            for difference in differences(_document(one, "summary.json"), _document(other, "summary.json"))
            if difference.path not in _IN_MANIFEST_TOO
        ),
        tuple(
            table
            for table in TABLES
            if _bytes_of(one / "trace" / table) != _bytes_of(other / "trace" / table)
        ),
    )


def compare_until(one: Path, other: Path, until_ms: int) -> Comparison:
    """Compare what happened in two runs before this moment: the rows of their traces, and their manifests.

    Their figures count what came in the last moment too, so they are left out.
    """
    return Comparison(
        tuple(differences(_manifest(one), _manifest(other))),
        (),
        tuple(
            table
            for table in TABLES
            if not _rows_before(one, table, until_ms).equals(_rows_before(other, table, until_ms))
        ),
        until_ms,
    )


def _manifest(run: Path) -> dict[str, Any]:
    """Return what a manifest says of the run; in how many files its tables stand is no difference of runs."""
    document: dict[str, Any] = _document(run, "manifest.json")
    document.pop("parts", None)
    return document


def _document(run: Path, name: str) -> Any:
    try:
        return json.loads((run / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        if name == "summary.json" and isinstance(error, FileNotFoundError):
            return {}  # It is still running, or was killed.
        raise NotARun(f"{run} is no run: {name} cannot be read ({error})") from error


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


def _bytes_of(table: Path) -> list[tuple[str, bytes]]:
    return [(part.name, sha256(part.read_bytes()).digest()) for part in sorted(table.glob("part-*.parquet"))]


def _rows_before(run: Path, table: str, until_ms: int) -> pa.Table:
    """Return the rows before a moment with their words spelt out: of legs and contacts those that ended by
    then."""
    schema = TABLES[table]
    parts = sorted((run / "trace" / table).glob("part-*.parquet"))
    plain = pa.schema(
        [
            pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
            for field in schema
        ]
    )
    if until_ms == 0:
        return plain.empty_table()  # It may have been interrupted before there was anything.
    try:
        read = [pq.read_table(part).cast(plain) for part in parts]
    except (OSError, ValueError) as error:
        raise NotARun(f"{run} is no run: a part of {table} cannot be read ({error})") from error
    rows = pa.concat_tables(read) if read else plain.empty_table()
    time = next((name for name in ("at_ms", "created_ms", "end_ms") if name in schema.names), None)
    rows = rows if time is None else rows.filter(pc.less(rows[time], pa.scalar(until_ms, pa.int64())))
    return rows.combine_chunks()


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
