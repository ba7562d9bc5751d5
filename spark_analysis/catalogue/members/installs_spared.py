"""How many installs mediators did not send, because something that the source looked for stood for them."""

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
    """Name every install that a source got, and every one that it was spared; of these the bytes too.

    A source got it if it heard it in a frame of its own, or has answered it: what travels with others, or
    inside a device, is in no such frame.
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
    """Return how many installs were spared, of how many, and their bytes. One and the same install counts
    once, whoever spared it; one that was sent after all was not spared.
    """
    assert evidence.tables is not None
    sums = evidence.tables.sums("messages", _COLUMNS, _counted)
    got, told = (
        {name.partition(" ")[2] for name in sums if name.startswith(f"{word} ")} for word in ("got", "spared")
    )
    octets = sum(sums[f"bytes {name}"] / sums[f"spared {name}"] for name in told - got)
    return len(told - got), len(told | got), octets


def installs_spared(evidence: Evidence) -> float | None:
    """Return spared / (spared + sent) installs of a subscription at a source."""
    spared, all_, _ = _installs(evidence)
    return spared / all_ if all_ else None


def _note(evidence: Evidence) -> str:
    spared, all_, octets = _installs(evidence)
    return f"{spared:,} of {all_:,}, {bytes_text(octets)} not sent"


METRIC: Final = Metric(
    name="installs_spared",
    title="installs spared",
    meaning="share of installs at sources that covering made needless",
    unit=Unit.SHARE,
    better=None,
    needs=frozenset({"tables"}),
    of=installs_spared,
    place=120,
    note=_note,
)
