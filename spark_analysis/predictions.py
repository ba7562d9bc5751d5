"""Predictions of a run: how many came true, and how many were delivered before the outcome.

A result with rank 0 that is later settled with rank 1 is a prediction. It came true if the message that
settles it also contains another result: the predicted one. It was *in time* if a subscriber received it
before its source knew the outcome; the lead is the time between. Predictions that were open at the end are
not counted. Reads the tables of a run without Spark.
"""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyarrow import compute

from dens.trace.recorded_run import RecordedRun


@dataclass(frozen=True, slots=True)
class PredictionStats:
    """Predictions that were settled, came true and were delivered in time, and the median lead."""

    settled: int
    came_true: int
    in_time: int
    """Of those that came true."""
    median_lead_s: float | None
    """Of those in time."""

    def as_text(self) -> str:
        share = f" ({self.in_time / self.came_true:.0%})" if self.came_true else ""
        lead = "" if self.median_lead_s is None else f", {self.median_lead_s:,.0f} s ahead (median)"
        return (
            f"{self.settled:,} predictions ended, {self.came_true:,} of them came true; of these "
            f"{self.in_time:,}{share} were delivered before the outcome{lead}"
        )


def prediction_stats_of(run: RecordedRun) -> PredictionStats | None:
    """Return the predictions of a run; None without predictions."""
    results = run.table("results", ["at_ms", "origin", "number", "identity", "rank"]).to_pylist()
    if not any(row["rank"] for row in results):
        return None
    steps = run.table("messages", ["at_ms", "kind", "origin", "number"])
    return prediction_stats(results, steps.filter(compute.field("kind") == "delivered").to_pylist())


def prediction_stats(
    results: Iterable[Mapping[str, Any]], delivered: Iterable[Mapping[str, Any]]
) -> PredictionStats | None:
    """Count predictions from the rows of `results` and the delivered rows of `messages`."""
    by_message: dict[tuple[int, int], list[tuple[bytes, int]]] = {}
    opened: dict[bytes, list[tuple[int, int]]] = {}
    settled: dict[bytes, tuple[int, tuple[int, int]]] = {}
    for row in results:
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
    return PredictionStats(len(settled), came_true, len(leads), statistics.median(leads) if leads else None)
