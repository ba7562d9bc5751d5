"""What was foretold in a run, whether it came true, and whether anybody saw it before.

A result that is said at rank 0 and settled at rank 1 was foretold. It came true where the message that
settles it says a result of its own besides: what was foretold. It was *in time* where a subscriber saw it
before its source knew the outcome; the lead is what lies between. What was still open at the end is not
counted. Reads the tables of a run as they are, without Spark.
"""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyarrow import compute

from dens.trace.recorded_run import RecordedRun


@dataclass(frozen=True, slots=True)
class Foretold:
    """How many results were foretold and settled, came true, and were seen in time; and how long before."""

    settled: int
    came_true: int
    in_time: int
    """of those that came true"""
    median_lead_s: float | None
    """of those in time"""

    def in_words(self) -> str:
        """Return it as a line for people."""
        share = f" ({self.in_time / self.came_true:.0%})" if self.came_true else ""
        lead = "" if self.median_lead_s is None else f", {self.median_lead_s:,.0f} s ahead (median)"
        return (
            f"{self.settled:,} predictions ended, {self.came_true:,} of them came true; of these "
            f"{self.in_time:,}{share} were shown before the outcome{lead}"
        )


def foretold_in(run: RecordedRun) -> Foretold | None:
    """Return what was foretold in a run; None where nothing was."""
    said = run.table("results", ["at_ms", "origin", "number", "identity", "rank"]).to_pylist()
    if not any(row["rank"] for row in said):
        return None
    steps = run.table("messages", ["at_ms", "kind", "origin", "number"])
    return foretold(said, steps.filter(compute.field("kind") == "delivered").to_pylist())


def foretold(said: Iterable[Mapping[str, Any]], delivered: Iterable[Mapping[str, Any]]) -> Foretold | None:
    """Return the same of rows: which message says which result at which rank, and when each was shown."""
    by_message: dict[tuple[int, int], list[tuple[bytes, int]]] = {}
    opened: dict[bytes, list[tuple[int, int]]] = {}
    settled: dict[bytes, tuple[int, tuple[int, int]]] = {}
    for row in said:
        message, identity, rank = (row["origin"], row["number"]), row["identity"], row["rank"]
        by_message.setdefault(message, []).append((identity, rank))
        if not rank:
            opened.setdefault(identity, []).append(message)
        elif identity not in settled or row["at_ms"] < settled[identity][0]:
            settled[identity] = row["at_ms"], message
    if not settled:
        return None
    shown: dict[tuple[int, int], int] = {}
    for row in delivered:
        message = row["origin"], row["number"]
        shown[message] = min(row["at_ms"], shown.get(message, row["at_ms"]))
    came_true, leads = 0, []
    for identity, (at_ms, message) in settled.items():
        if any(not rank for _, rank in by_message[message]):
            came_true += 1
            seen = [shown[one] for one in opened.get(identity, ()) if one in shown]
            if seen and min(seen) < at_ms:
                leads.append((at_ms - min(seen)) / 1000)
    return Foretold(len(settled), came_true, len(leads), statistics.median(leads) if leads else None)
