"""Share of INSTALL messages that mediators suppressed because installed filters covered them."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.metric import Metric, Unit
from spark_analysis.number_format import bytes_text

_COLUMNS: Final = ("kind", "type", "node", "peer", "origin", "number", "bytes")


def _counted(batch: pa.RecordBatch) -> Mapping[str, float]:
    """Name every install that a source received, and every suppressed one with its bytes.

    A source received it if it got it in a frame, or acknowledged it: installs that are piggybacked or inside
    a device are in no frame of their own.
    """
    found: Counter[str] = Counter()
    installs = pa.Table.from_batches([batch]).filter(pc.field("type") == "install")  # Nearly all are others.
    for row in installs.to_pylist():
        message = f"{row['origin']} {row['number']}"
        if row["kind"] in ("received", "duplicate", "refused"):
            found[f"got {row['node']} {message}"] += 1
        elif row["kind"] == "acknowledged":
            found[f"got {row['peer']} {message}"] += 1
        elif row["kind"] == "spared":
            found[f"spared {row['peer']} {message}"] += 1
            found[f"bytes {row['peer']} {message}"] += row["bytes"]
    return found


def _installs(evidence: Evidence) -> tuple[int, int, float]:
    """Return suppressed installs, all installs, and suppressed bytes. An install that several mediators
    suppressed counts once; one that was sent later does not count as suppressed.
    """
    assert evidence.tables is not None
    sums = evidence.tables.sums("messages", _COLUMNS, _counted)
    received, suppressed = (
        {name.partition(" ")[2] for name in sums if name.startswith(f"{word} ")} for word in ("got", "spared")
    )
    octets = sum(sums[f"bytes {name}"] / sums[f"spared {name}"] for name in suppressed - received)
    return len(suppressed - received), len(suppressed | received), octets


def installs_spared(evidence: Evidence) -> float | None:
    """Return suppressed / (suppressed + sent) installs of a subscription at a source."""
    spared, all_, _ = _installs(evidence)
    return spared / all_ if all_ else None


def _note(evidence: Evidence) -> str:
    spared, all_, octets = _installs(evidence)
    return f"{spared:,} of {all_:,}, {bytes_text(octets)} not sent"


METRIC: Final = Metric(
    name="installs_spared",
    title="installs saved",
    meaning="share of installs at sources that covering made unnecessary",
    unit=Unit.SHARE,
    better=None,
    needs=frozenset({"tables"}),
    of=installs_spared,
    place=120,
    note=_note,
)
