"""Whether predictions arrive before what they predict: an emulated run of `triage`, in which monitors predict
and bearers carry.

A prediction is *in time* where its subscriber saw it before the source saw the pattern complete. Its lead is
what lies between the two. One that did not come true has no lead, and is counted apart.
"""

import statistics
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dens.trace.recorded_run import RecordedRun, recorded_run
from plugins.composite.composites import CONFIRMED, PREDICTED, decode_composite
from plugins.composite.language import COMPOSITE_ID

SCENARIO: Final = "triage"


@dataclass(frozen=True, slots=True)
class Warned:
    """A prediction: when it was opened and shown, and when the pattern was complete; None where never."""

    opened_ms: int
    shown_ms: int | None
    completed_ms: int | None

    @property
    def lead_ms(self) -> int | None:
        """Return how long before completion it was shown; None where it was not, or nothing completed."""
        if self.shown_ms is None or self.completed_ms is None or self.shown_ms >= self.completed_ms:
            return None
        return self.completed_ms - self.shown_ms


def emulated(seeds: Iterable[int]) -> list[Warned]:
    """Run the scenario with these seeds, and return all predictions."""
    from emulation.run import run_scenario
    from emulation.scenario import load_scenario

    found: list[Warned] = []
    with tempfile.TemporaryDirectory(prefix="dens-warnings-") as folder:
        for seed in seeds:
            out = Path(folder) / str(seed)
            run_scenario(load_scenario(SCENARIO), seed, out)
            found += warnings_of(recorded_run(out))
    return found


def warnings_of(run: RecordedRun) -> list[Warned]:
    """Return the predictions of a run."""
    made = run.table("notifications", ["at_ms", "origin", "number", "language", "vector"]).to_pylist()
    steps = run.table("messages", ["at_ms", "kind", "origin", "number"]).to_pylist()
    return paired(made, (row for row in steps if row["kind"] == "delivered"))


def paired(made: Iterable[Mapping[str, Any]], delivered: Iterable[Mapping[str, Any]]) -> list[Warned]:
    """Return predictions among what sources made, with when each was first shown, and was confirmed."""
    shown: dict[tuple[int, int], int] = {}
    for row in delivered:
        name = row["origin"], row["number"]
        shown[name] = min(row["at_ms"], shown.get(name, row["at_ms"]))
    opened: dict[tuple[object, ...], tuple[int, int | None]] = {}
    completed: dict[tuple[object, ...], int] = {}
    for row in made:
        if row["language"] != COMPOSITE_ID:
            continue
        told = decode_composite(row["vector"])
        opening = told.opening
        if opening is None:
            continue
        reading = opening.event, opening.number, opening.stamp_s, opening.key
        name_there = told.source, told.subscriber, told.id, told.revision, *reading
        if told.kind == PREDICTED:
            opened[name_there] = row["at_ms"], shown.get((row["origin"], row["number"]))
        elif told.kind == CONFIRMED:
            completed[name_there] = row["at_ms"]
    return [Warned(*opening, completed.get(name)) for name, opening in opened.items()]


def share_in_time(warned: Iterable[Warned]) -> tuple[int, int]:
    """Return how many predictions that came true were shown in time, and how many came true."""
    true = [one for one in warned if one.completed_ms is not None]
    return sum(one.lead_ms is not None for one in true), len(true)


def in_words(warned: list[Warned]) -> tuple[str, ...]:
    """Return what came of predictions, as remarks beside a figure."""
    if not warned:
        return (f"{SCENARIO}: nothing was predicted.",)
    in_time, true = share_in_time(warned)
    shown = sum(one.shown_ms is not None for one in warned)
    said = [
        f"{SCENARIO}, emulated: of {len(warned)} predictions {true} came true and {shown} were shown; "
        f"of those that came true {in_time} ({in_time / max(true, 1):.0%}) were shown before the pattern was "
        "complete."
    ]
    leads = sorted(one.lead_ms / 1000 for one in warned if one.lead_ms is not None)
    if leads:
        said.append(
            f"Lead time of these: median {statistics.median(leads):.0f} s, from {leads[0]:.0f} to "
            f"{leads[-1]:.0f} s."
        )
    aheads = [(one.completed_ms - one.opened_ms) / 1000 for one in warned if one.completed_ms is not None]
    if aheads:
        said.append(
            f"At the source they were opened {statistics.median(aheads):.0f} s before completion (median): "
            "what the way takes is lost of that."
        )
    return tuple(said)
